/** A record that Kafka's tool can't show: its message stands after "Error at offset n, skipping. ". */
export class Skipped extends Error {}
