import type { DiskStats } from '../../store.ts'
import type { Sql } from '../connection.ts'
import { measureDeliveries } from '../writes/deliveries.ts'

/**
 * The size of the schema's tables and the size of the outbox. SQL does not show the disk of the server. The store adds
 * its connections.
 */
export async function measure(sql: Sql): Promise<DiskStats> {
  const [size, deliveries] = await Promise.all([sql.get<{ bytes: number }>(selectSize), measureDeliveries(sql)])
  return {
    databaseBytes: size?.bytes ?? 0,
    freeBytes: 0,
    walBytes: 0,
    diskFreeBytes: null,
    deliveries,
    callsWaiting: {},
    connections: null,
  }
}

/** Tables with their indexes and long values. */
const selectSize = `
  SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
  WHERE relnamespace = 'millrace'::regnamespace AND relkind = 'r'`
