import { hostname } from 'node:os'
import type { Clock, Timer } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { Database } from './connection.ts'

/**
 * Registers this process as the one that serves the installation, and keeps the registration alive. Commands do not
 * register. The registration is a lease by the database's clock: when the process dies, the lease ends by itself.
 */
export class Membership {
  readonly #database: Database
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #id: string
  #timer: Timer | undefined
  #renewing: Promise<void> = Promise.resolve()

  /** Throws `CONFLICT` when another process serves the installation. */
  static async join(database: Database, version: string, clock: Pick<Clock, 'setTimer'>): Promise<Membership> {
    const id = newId()
    const host = hostname()
    await database.change(async (sql) => {
      const others = await sql.all<{ id: string; host: string; pid: number }>(selectLiving)
      for (const other of others) {
        if (other.host !== host || isRunning(other.pid)) throw alreadyServed(other)
        // It was killed on this machine: no need to wait until its lease ends.
        await sql.run('DELETE FROM millrace.processes WHERE id = $1', other.id)
      }
      await sql.run(insertProcess, id, host, process.pid, version, leaseSeconds)
      await sql.run('DELETE FROM millrace.processes WHERE lease_until < now()')
    })
    return new Membership(database, id, clock)
  }

  private constructor(database: Database, id: string, clock: Pick<Clock, 'setTimer'>) {
    this.#database = database
    this.#id = id
    this.#clock = clock
    this.#renewLater()
  }

  /** Gives the registration up, so that the next process need not wait. */
  async leave(): Promise<void> {
    this.#timer?.cancel()
    await this.#renewing
    await this.#database.run('DELETE FROM millrace.processes WHERE id = $1', this.#id).catch(() => undefined)
  }

  #renewLater(): void {
    this.#timer = this.#clock.setTimer(renewMs, () => {
      this.#renewing = this.#renew()
    })
  }

  async #renew(): Promise<void> {
    // When the database is away for a while, the next renewal extends the lease again.
    await this.#database.run(extendLease, this.#id, leaseSeconds).catch(() => undefined)
    this.#renewLater()
  }
}

const leaseSeconds = 30
const renewMs = 10_000

const selectLiving = 'SELECT id, host, pid FROM millrace.processes WHERE lease_until >= now()'
const insertProcess = `
  INSERT INTO millrace.processes (id, host, pid, version, lease_until)
  VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))`
const extendLease = 'UPDATE millrace.processes SET lease_until = now() + make_interval(secs => $2) WHERE id = $1'

function alreadyServed({ host, pid }: { host: string; pid: number }): AppError {
  return new AppError(
    'CONFLICT',
    `Another process serves this PostgreSQL database: process ${pid} on ${host}. Stop it first. ` +
      `If it was killed, its registration ends within ${leaseSeconds} seconds.`,
  )
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
