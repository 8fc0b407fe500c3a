import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.Readable;

/** Reads lines `name version hex` and answers each: do Kafka's own generated classes read these bytes and write them again? */
public class CompareCodec {
    private static final String[] CLASSES = {
        "org.apache.kafka.common.message.%sData", "org.apache.kafka.common.message.%s", "org.apache.kafka.common.metadata.%s",
        "org.apache.kafka.coordinator.group.generated.%s", "org.apache.kafka.coordinator.transaction.generated.%s",
        "org.apache.kafka.coordinator.share.generated.%s", "org.apache.kafka.server.log.remote.metadata.storage.generated.%s",
        "org.apache.kafka.storage.internals.log.generated.%s", "org.apache.kafka.raft.generated.%s",
        "org.apache.kafka.storage.generated.%s", "org.apache.kafka.storage.internals.generated.%s",
    };

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split(" ", -1);
            System.out.println(compare(parts[0], Short.parseShort(parts[1]), parts[2]));
        }
    }

    private static String compare(String name, short version, String hex) {
        try {
            Class<?> type = classOf(name);
            if (hex.equals("default"))
                return written((Message) type.getConstructor().newInstance(), version);
            byte[] bytes = HexFormat.of().parseHex(hex);
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            Object message = type.getConstructor(Readable.class, short.class).newInstance(new ByteBufferAccessor(buffer), version);
            if (buffer.hasRemaining())
                return buffer.remaining() + " bytes are left";
            return written((Message) message, version);
        } catch (Throwable error) {
            return String.valueOf(error.getCause() == null ? error : error.getCause()).replace('\n', ' ');
        }
    }

    private static String written(Message message, short version) {
        ByteBuffer again = MessageUtil.toByteBufferAccessor(message, version).buffer();
        return HexFormat.of().formatHex(Arrays.copyOfRange(again.array(), again.arrayOffset() + again.position(), again.arrayOffset() + again.limit()));
    }

    private static Class<?> classOf(String name) throws ClassNotFoundException {
        for (String pattern : CLASSES) {
            try {
                return Class.forName(pattern.formatted(name));
            } catch (ClassNotFoundException notThere) {
                // The next place.
            }
        }
        throw new ClassNotFoundException(name);
    }
}
