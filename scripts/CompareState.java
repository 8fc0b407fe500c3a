import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.MetadataBatchLoader;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.fault.FaultHandler;

/**
 * Reads lines of metadata records as hex, apart by commas, batches by semicolons, and answers each with the records of the
 * snapshot that Kafka's own classes write of the image these lead to; faults follow behind an exclamation mark.
 */
public class CompareState {
    private static MetadataImage image;

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            System.out.println(snapshotOf(line));
    }

    private static String snapshotOf(String line) {
        List<String> faults = new ArrayList<>();
        FaultHandler handler = (message, cause) -> {
            faults.add(message + ": " + cause);
            return new RuntimeException(message, cause);
        };
        LeaderAndEpoch leader = LeaderAndEpoch.UNKNOWN;
        image = MetadataImage.EMPTY;
        MetadataBatchLoader loader = new MetadataBatchLoader(
            new LogContext(), Time.SYSTEM, handler, (delta, made, manifest) -> image = made, (type, name) -> true);
        loader.resetToImage(image);
        long offset = 0;
        for (String batch : line.split(";")) {
            List<ApiMessageAndVersion> records = new ArrayList<>();
            for (String hex : batch.split(",")) {
                ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
                records.add(MetadataRecordSerde.INSTANCE.read(new ByteBufferAccessor(bytes), bytes.remaining()));
            }
            loader.loadBatch(Batch.data(offset, 1, 1L, 100, records), leader);
            loader.maybeFlushBatches(leader, true);
            offset += records.size();
        }
        return written() + (faults.isEmpty() ? "" : "!" + String.join(" / ", faults).replace('\n', ' '));
    }

    private static String written() {
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).setEligibleLeaderReplicasEnabled(true).build());
        List<String> all = new ArrayList<>();
        for (ApiMessageAndVersion record : writer.records()) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer buffer = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
            MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(buffer));
            all.add(HexFormat.of().formatHex(buffer.array()));
        }
        return String.join(",", all);
    }
}
