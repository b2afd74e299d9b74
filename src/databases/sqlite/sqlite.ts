import { readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { DatabaseError } from '../../domain/database/database.ts'
import type { SqlConnection, StatementBounds, StatementResult } from '../sql/connection.ts'
import { positionIn } from '../sql/position.ts'
import type { Statement } from '../sql/statements.ts'
import { type SqliteReply, type SqliteRequest, sqliteWord } from './messages.ts'

/** A SQLite file, in a process of its own. */
export class SqliteConnection implements SqlConnection {
  readonly #process: Bun.Subprocess<'pipe', 'pipe', 'ignore'>
  readonly #lines: AsyncGenerator<string>
  #isLost = false
  #isBusy = false
  #isTooLarge = false

  /** `program`: the command that starts this program. */
  static async open(path: string, program: readonly string[], signal: AbortSignal): Promise<SqliteConnection> {
    signal.throwIfAborted()
    const connection = new SqliteConnection(program)
    const abort = () => connection.close()
    signal.addEventListener('abort', abort, { once: true })
    try {
      await connection.#ask({ type: 'open', path })
      return connection
    } catch (error) {
      connection.close()
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  private constructor(program: readonly string[]) {
    this.#process = Bun.spawn([...program, sqliteWord], {
      // It needs no secret of the service.
      env: {},
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
      onExit: () => {
        this.#isLost = true
      },
    })
    try {
      setPriority(this.#process.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {
      // The system does not allow it.
    }
    this.#lines = linesOf(this.#process.stdout)
  }

  get isUsable(): boolean {
    return !this.#isLost && !this.#isBusy
  }

  async begin(isReadOnly: boolean): Promise<void> {
    await this.#ask({ type: 'begin', isReadOnly })
  }

  async commit(): Promise<void> {
    await this.#ask({ type: 'commit' })
  }

  async rollback(): Promise<void> {
    await this.#ask({ type: 'rollback' })
  }

  async run(statement: Statement, { maxRows, bytesMax, valuesMax, memory }: StatementBounds): Promise<StatementResult> {
    const { text, values } = statement
    const limit = maxRows === undefined ? {} : { maxRows }
    const reply = await this.#ask({ type: 'run', text, values, ...limit, bytesMax, valuesMax }, statement)
    if (!reply.result) throw lost()
    const { columns, rows, changed, hasMore } = reply.result
    memory.add(reply.bytes)
    return { columns, rows, changed: changed ?? undefined, hasMore }
  }

  cancel(): void {
    this.close()
  }

  close(): void {
    this.#isLost = true
    this.#process.kill('SIGKILL')
  }

  async #ask(request: SqliteRequest, statement?: Statement) {
    if (this.#isLost) throw lost()
    this.#isBusy = true
    this.#process.stdin.write(`${JSON.stringify(request)}\n`)
    await this.#process.stdin.flush()
    const watch = setInterval(() => this.#assertMemory(), memoryMs)
    const { value: line, done } = await this.#lines.next().finally(() => clearInterval(watch))
    if (this.#isTooLarge) throw tooMuchMemory()
    if (done) throw lost()
    this.#isBusy = false
    const reply = JSON.parse(line) as SqliteReply
    if (reply.ok) return { ...reply, bytes: line.length }
    throw failureOf(reply, statement)
  }

  /** SQLite has no limit of its own here: a text may have 1 GB, and sorting happens in memory. */
  #assertMemory(): void {
    if (memoryOf(this.#process.pid) <= memoryBytesMax) return
    this.#isTooLarge = true
    this.close()
  }
}

/** The resident memory of a process in bytes; 0 when the system does not say. */
function memoryOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes
  } catch {
    return 0
  }
}

function tooMuchMemory(): DatabaseError {
  const message = `The statement needed more than ${memoryBytesMax / 1_048_576} MB of memory, so it was stopped.`
  return new DatabaseError('RESPONSE_TOO_LARGE', message)
}

const memoryBytesMax = 536_870_912
const memoryMs = 50
const pageBytes = 4_096

function failureOf(reply: SqliteReply & { ok: false }, statement: Statement | undefined): DatabaseError {
  const { message, code, offset = -1, excess } = reply
  if (excess) return new DatabaseError('RESPONSE_TOO_LARGE', `${message}. Select fewer columns or rows.`)
  const character = statement && offset >= 0 ? characterAt(statement.text, offset) : undefined
  const position = statement && character !== undefined ? positionIn(statement, character) : undefined
  const facts = { ...(code === undefined ? {} : { sqlState: code }), ...(position ? { position } : {}) }
  return new DatabaseError('SQL_ERROR', `${message} (${code ?? 'no code'})`, facts)
}

/** The number, from 1, of the character at an offset in bytes. */
function characterAt(text: string, offset: number): number {
  return [...Buffer.from(text).subarray(0, offset).toString()].length + 1
}

const lost = () => new DatabaseError('CONNECTION_FAILED', 'The process of the SQLite file ended.')

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let parts: string[] = []
  for await (const chunk of stream) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    parts.push(first)
    for (const next of others) {
      yield parts.join('')
      parts = [next]
    }
  }
  return undefined
}
