import { DatabaseError } from '../../domain/database/database.ts'

/** The words of a command as Redis receives them. Throws `DatabaseError` for a command that cannot be sent. */
export function wordsOf(command: string, args: readonly unknown[]): string[] {
  const words = command.trim().split(/\s+/)
  const name = words[0]!.toUpperCase()
  const reason = refused.get(name)
  if (reason !== undefined) throw invalid(`The command ${name} ${reason}.`)
  return [...words, ...args.map((value, index) => wordOf(value, index + 1))]
}

function wordOf(value: unknown, number: number): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) throw invalid(`Argument ${number} has no value. Redis has no null.`)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The bytes of a command in the protocol of Redis. */
export function commandBytes(words: readonly string[]): Buffer {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`)
}

const invalid = (message: string) => new DatabaseError('INVALID_COMMAND', message)

const endless = 'sends messages without end, and a block waits for one reply'
const changing = 'changes the connection, which other blocks use, too'
const several = 'needs its own connection. Use EVAL for several commands that must take effect together'

const refused: ReadonlyMap<string, string> = new Map([
  ...['SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE', 'MONITOR', 'SYNC', 'PSYNC'].map((name) => [name, endless] as const),
  ...['AUTH', 'HELLO', 'SELECT', 'QUIT', 'RESET', 'CLIENT', 'READONLY', 'READWRITE', 'ASKING', 'REPLCONF'].map(
    (name) => [name, changing] as const,
  ),
  ...['MULTI', 'EXEC', 'DISCARD', 'WATCH', 'UNWATCH'].map((name) => [name, several] as const),
])
