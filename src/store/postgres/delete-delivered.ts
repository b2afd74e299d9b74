/**
 * Deletes up to 500 events up to the sequence `$1`, with their deliveries and attempts. Events with a pending delivery
 * stay. `table` has the events, by sequence.
 */
export function deleteDelivered(table: 'alert_firings' | 'pause_events'): string {
  return `
  WITH gone AS MATERIALIZED (
    SELECT sequence FROM millrace.${table} e WHERE sequence <= $1 AND NOT EXISTS (
      SELECT 1 FROM millrace.deliveries d WHERE d.sequence = e.sequence AND d.state = 0)
    ORDER BY sequence LIMIT 500 FOR UPDATE SKIP LOCKED
  ), attempts AS (
    DELETE FROM millrace.delivery_attempts WHERE sequence IN (SELECT sequence FROM gone)
  ), deliveries AS (
    DELETE FROM millrace.deliveries WHERE sequence IN (SELECT sequence FROM gone)
  )
  DELETE FROM millrace.${table} WHERE sequence IN (SELECT sequence FROM gone)`
}
