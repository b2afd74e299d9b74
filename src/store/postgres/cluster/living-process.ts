import type { Sql } from '../connection.ts'
import { placeOfProcess, startOfProcess } from './place.ts'

export type LivingProcess = { host: string; pid: number }

/** A process that serves the installation; undefined when none does. */
export async function livingProcess(sql: Pick<Sql, 'all'>): Promise<LivingProcess | undefined> {
  const found = await sql.all<LivingProcess & { place: string; pidStart: string }>(selectLiving)
  // A process that was killed on this machine has a lease for some more seconds.
  return found.find(({ place, pid, pidStart }) => place !== placeOfProcess() || startOfProcess(pid) === pidStart)
}

const selectLiving = `
  SELECT host, pid, place, pid_start AS "pidStart" FROM millrace.processes WHERE lease_until >= now() ORDER BY number`
