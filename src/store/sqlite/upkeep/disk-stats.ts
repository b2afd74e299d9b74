import { statfsSync, statSync } from 'node:fs'
import type { DiskStats } from '../../store.ts'
import type { Sql } from '../connection.ts'
import { measureDeliveries } from '../writes/deliveries.ts'

/** Sizes of the database files, free space on their disk, and the size of the outbox. */
export function readDiskStats(sql: Sql): DiskStats {
  const { file = '' } = sql.get<{ file: string }>('PRAGMA database_list') ?? {}
  const { page_size: pageBytes = 0 } = sql.get<{ page_size: number }>('PRAGMA page_size') ?? {}
  const { freelist_count: pagesFree = 0 } = sql.get<{ freelist_count: number }>('PRAGMA freelist_count') ?? {}
  const { bavail, bsize } = statfsSync(file)
  return {
    databaseBytes: sizeOf(file),
    walBytes: sizeOf(`${file}-wal`),
    freeBytes: pagesFree * pageBytes,
    diskFreeBytes: bavail * bsize,
    deliveries: measureDeliveries(sql),
    callsWaiting: {},
    connections: null,
  }
}

/** 0 when there is no such file: the WAL may be missing while nothing is written. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
