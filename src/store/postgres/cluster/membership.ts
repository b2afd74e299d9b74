import { hostname } from 'node:os'
import { AppError } from '../../../domain/errors.ts'
import { newId } from '../../../domain/ids.ts'
import type { SequenceShare } from '../../process-store.ts'
import type { Database, Sql } from '../connection.ts'
import { listOf } from '../connection.ts'
import { isGone, placeOfProcess, startOfProcess } from './place.ts'

/** A process that serves an installation, as it introduces itself. */
export type Introduction = {
  version: string
  /** Where other processes reach it. */
  url: string
  /** Whether it keeps files in its data folder, where other processes do not find them. */
  usesFolder: boolean
}

/**
 * The registration of this process. It has a lease by the database's clock, which `checkIn` (check-in.ts) extends. When
 * the process dies, another one buries it: it deletes the registration and gives up what the process had claimed.
 */
export class Membership {
  readonly #database: Database
  readonly #own: Introduction
  readonly #place = placeOfProcess()
  #id = newId()
  #slot = 0

  private constructor(database: Database, own: Introduction) {
    this.#database = database
    this.#own = own
  }

  /** Throws `CONFLICT` when this process and another one could not serve the installation together. */
  static async join(database: Database, own: Introduction): Promise<Membership> {
    const membership = new Membership(database, own)
    await membership.joinAgain()
    return membership
  }

  get id(): string {
    return this.#id
  }

  get sequenceShare(): SequenceShare {
    return { count: processesMax, own: () => this.#slot }
  }

  /** After the registration was lost: registers the process under a new number, without claims. */
  async joinAgain(): Promise<void> {
    const id = newId()
    const { number, slot } = await this.#database.write(async (sql) => {
      await sql.get('SELECT pg_advisory_xact_lock($1)', joinLock)
      const others = await sql.all<Registered>(selectAll)
      // Processes that were killed on this machine: no need to wait until their leases end.
      const dead = others.filter(({ place, pid, pidStart }) => place === this.#place && isGone(pid, pidStart))
      for (const { number } of dead) await buryAnyway(sql, number)
      const registered = others.filter((other) => !dead.includes(other))
      assertTogether(
        this.#own,
        registered.filter(({ isOver }) => !isOver),
      )
      return await this.#insert(sql, id, registered)
    })
    this.#id = id
    this.#slot = slot
    this.#database.owner = number
  }

  async #insert(sql: Sql, id: string, others: readonly Registered[]): Promise<{ number: number; slot: number }> {
    const { version, url, usesFolder } = this.#own
    const who = [id, hostname(), this.#place, process.pid, startOfProcess(process.pid) ?? ''] as const
    const values = [...who, version, url, usesFolder, leaseSeconds] as const
    const inserted = await sql.get<{ number: number }>(insertProcess, ...values)
    const { number } = inserted!
    const slot = freeSlot(number, others)
    await sql.run('UPDATE millrace.processes SET slot = $2 WHERE number = $1', number, slot)
    return { number, slot }
  }

  /** See `ProcessStore.announceKeys`. */
  async announceKeys(heads: readonly Uint8Array[]): Promise<void> {
    const own = heads.map((head) => head.toHex())
    const problem = await this.#database.write(async (sql) => {
      await sql.get('SELECT pg_advisory_xact_lock($1)', joinLock)
      const others = await sql.all<{ host: string; pid: number; keyHeads: string[] }>(selectKeys, sql.owner)
      const stranger = others.find(({ keyHeads }) => !canReadEachOther(own, keyHeads))
      if (stranger) return stranger
      await sql.run('UPDATE millrace.processes SET key_heads = $2::text[] WHERE number = $1', sql.owner, listOf(own))
      return undefined
    })
    if (!problem) return
    await this.leave()
    throw refusal(
      `Process ${problem.pid} on ${problem.host} serves this database with another MILLRACE_SECRET_KEY. Set the same ` +
        'key everywhere. To replace a key, add the new one behind the old one in every process first.',
    )
  }

  /** Gives the registration and all claims up, so that others need not wait. */
  async leave(): Promise<void> {
    const number = this.#database.owner
    if (number === 0) return
    await this.#database.write((sql) => buryAnyway(sql, number)).catch(() => undefined)
  }
}

/** Buries a process whose lease has ended. */
export async function bury(sql: Sql, number: number): Promise<void> {
  const isOver = await sql.get(
    'SELECT 1 FROM millrace.processes WHERE number = $1 AND lease_until < now() FOR UPDATE',
    number,
  )
  if (isOver) await buryAnyway(sql, number)
}

async function buryAnyway(sql: Sql, number: number): Promise<void> {
  await sql.run('DELETE FROM millrace.processes WHERE number = $1', number)
  await releaseGoneJobs(sql)
}

/**
 * Gives up the jobs of processes that are gone, and counts a crash for those that ran. A process that does not know yet
 * that it was buried may still write a job.
 */
export async function releaseGoneJobs(sql: Sql): Promise<void> {
  await sql.run(
    `UPDATE millrace.jobs SET owner = 0, cuts = cuts + CASE WHEN state = 1 THEN 1 ELSE 0 END,
       state = CASE WHEN state = 1 THEN 2 ELSE state END
     WHERE ${isGoneJob}`,
  )
}

const isGoneJob = 'owner > 0 AND owner NOT IN (SELECT number FROM millrace.processes)'

type Registered = { number: number; slot: number; host: string; place: string; pid: number; pidStart: string } & {
  usesFolder: boolean
  isOver: boolean
}

function assertTogether(own: Introduction, living: readonly Registered[]): void {
  const [first] = living
  if (!first) return
  const withFolder = living.find(({ usesFolder }) => usesFolder)
  if (own.usesFolder || withFolder) {
    const { pid, host } = withFolder ?? first
    throw refusal(
      `Process ${pid} on ${host} already serves this PostgreSQL database, and ` +
        `${withFolder ? 'it' : 'this one'} keeps files in a folder, where other processes do not find them. Set ` +
        'MILLRACE_S3_BUCKET to the same bucket for every process, or run only one. A process that was killed counts ' +
        `for up to ${leaseSeconds} seconds.`,
    )
  }
}

/** Slots are used in turn, so that one is not used again soon after its process has gone. */
function freeSlot(number: number, others: readonly Registered[]): number {
  const used = new Set(others.map(({ slot }) => slot))
  const slots = Array.from({ length: processesMax }, (_, index) => (number + index) % processesMax)
  const free = slots.find((slot) => !used.has(slot))
  if (free === undefined) throw refusal(tooMany)
  return free
}

/** A process without keys has not announced them yet. It checks this one when it does. */
function canReadEachOther(own: readonly string[], other: readonly string[]): boolean {
  const [ownFirst, otherFirst] = [own[0], other[0]]
  if (ownFirst === undefined || otherFirst === undefined) return true
  return other.includes(ownFirst) && own.includes(otherFirst)
}

/** A millisecond has 8,192 sequences, so each of so many processes can record 256,000 runs a second. */
export const processesMax = 32
export const leaseSeconds = 30

const tooMany = `${processesMax} processes already serve this PostgreSQL database, which is the most.`

const joinLock = 0x4d696c4a

const selectAll = `
  SELECT number, slot, host, place, pid, pid_start AS "pidStart", uses_folder AS "usesFolder", lease_until < now() AS "isOver"
  FROM millrace.processes ORDER BY number`
// The slot is chosen by the number. Until then it differs from all slots in use.
const insertProcess = `
  INSERT INTO millrace.processes (id, slot, host, place, pid, pid_start, version, url, uses_folder, lease_until)
  VALUES ($1, -1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9)) RETURNING number`
const selectKeys = `
  SELECT host, pid, key_heads AS "keyHeads" FROM millrace.processes WHERE number <> $1 AND lease_until >= now()`

function refusal(message: string): AppError {
  return new AppError('CONFLICT', message)
}
