import { mayHoldSegments } from '../../../domain/workflow/reference.ts'
import { textOf } from '../../sim-document.ts'
import { renamed } from '../core/branches.ts'
import type { BlockToMap, Mapping, WantedCredential } from '../mapping.ts'
import type { SimValues } from '../sim-values.ts'
import { credentialName } from './connection.ts'

/** `args`: sub-blocks with the arguments, and what Sim sends for empty ones. `value`: the output with the reply. */
type Rule = { command: string; args: readonly (readonly [id: string, empty?: string])[]; value: string; note?: string }

const key = ['key'] as const
const oneOrZero = 'The reply is 1 or 0. In Sim, it was true or false.'

const rules: Readonly<Record<string, Rule>> = {
  get: { command: 'GET', args: [key], value: 'value' },
  set: { command: 'SET', args: [key, ['value']], value: 'result' },
  delete: { command: 'DEL', args: [key], value: 'deletedCount' },
  keys: { command: 'KEYS', args: [['pattern', '*']], value: 'keys' },
  hset: { command: 'HSET', args: [key, ['field'], ['value']], value: 'result' },
  hget: { command: 'HGET', args: [key, ['field']], value: 'value' },
  hgetall: { command: 'HGETALL', args: [key], value: 'fields' },
  hdel: { command: 'HDEL', args: [key, ['field']], value: 'deleted' },
  incr: { command: 'INCR', args: [key], value: 'value' },
  incrby: { command: 'INCRBY', args: [key, ['increment']], value: 'value' },
  exists: { command: 'EXISTS', args: [key], value: 'exists', note: oneOrZero },
  setnx: { command: 'SETNX', args: [key, ['value']], value: 'wasSet', note: oneOrZero },
  lpush: { command: 'LPUSH', args: [key, ['value']], value: 'length' },
  rpush: { command: 'RPUSH', args: [key, ['value']], value: 'length' },
  lpop: { command: 'LPOP', args: [key], value: 'value' },
  rpop: { command: 'RPOP', args: [key], value: 'value' },
  llen: { command: 'LLEN', args: [key], value: 'length' },
  lrange: { command: 'LRANGE', args: [key, ['start', '0'], ['stop', '-1']], value: 'values' },
  expire: { command: 'EXPIRE', args: [key, ['seconds']], value: 'result' },
  persist: { command: 'PERSIST', args: [key], value: 'result' },
  ttl: { command: 'TTL', args: [key], value: 'ttl' },
}

/** The outputs of Sim's block. Those without the reply repeat the input or count the reply. */
const outputs = [
  ...['value', 'result', 'deletedCount', 'deleted', 'keys', 'count', 'key', 'fields', 'fieldCount', 'field', 'ttl'],
  ...['length', 'values', 'command', 'pattern', 'exists', 'wasSet'],
]

/** A block with the address of a server becomes one that names a credential. */
export function mapRedis({ values }: BlockToMap): Mapping {
  const operation = textOf(values.peek('operation')) || 'get'
  const made = operation === 'command' ? commandOf(values) : callOf(operation, values)
  if (made === undefined) {
    return {
      needs:
        operation === 'command'
          ? 'a Redis block with a fixed command, and a list of its arguments'
          : `a Redis block with the command for "${operation.slice(0, 100)}"`,
    }
  }
  const { command, args, value, notes } = made
  const { credential, note } = serverOf(values)
  const names = Object.fromEntries(outputs.map((name) => [name, name === value ? 'result' : undefined]))
  const given = values.take('operation')
  return {
    type: 'redis',
    params: { credential: credential.name, command, ...(args.length > 0 ? { args } : {}) },
    credentials: [credential],
    output: (path) => renamed(path, names),
    notes: [note, ...notes],
    ...(given === undefined ? {} : { kept: { operation: given } }),
  }
}

type Call = { command: string; args: unknown[]; value: string; notes: readonly string[] }

function callOf(operation: string, values: SimValues): Call | undefined {
  const rule = Object.hasOwn(rules, operation) ? rules[operation] : undefined
  if (!rule) return undefined
  const args: unknown[] = rule.args.map(([id, empty = '']) => {
    const value = values.take(id)
    return value === undefined || value === null || value === '' ? empty : value
  })
  const expiry = operation === 'set' ? values.text('ex') : undefined
  if (expiry !== undefined) args.push('EX', expiry)
  return { command: rule.command, args, value: rule.value, notes: rule.note === undefined ? [] : [rule.note] }
}

/** A list with a command and its arguments. A value must not decide which command is sent. */
function commandOf(values: SimValues): Call | undefined {
  const list = values.json('command')
  if (!Array.isArray(list)) return undefined
  const [command, ...args] = list as unknown[]
  if (typeof command !== 'string' || command.trim() === '' || mayHoldSegments(command)) return undefined
  return { command: command.trim().slice(0, 200), args, value: 'result', notes: [] }
}

/** The address in the file may contain a password. */
function serverOf(values: SimValues): { credential: Required<WantedCredential>; note: string } {
  const address = textOf(values.peek('url')).trim()
  values.drop('url')
  const variable = address.match(/^\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$/)?.[1]
  const url = URL.parse(address)
  const host = url && /^rediss?:$/.test(url.protocol) ? url.host.slice(0, 200) : ''
  const database = host === '' ? '' : url!.pathname.slice(1, 20)
  const name = credentialName(['redis', ...(variable === undefined ? [host, database] : [variable])])
  const credential = { name: name.replace(/^redis-redis/, 'redis'), kind: 'redis' }
  const facts = [
    host === '' ? '' : `server ${host}`,
    database === '' ? '' : `database ${database}`,
    host === '' || url!.username === '' ? '' : `user ${url!.username.slice(0, 200)}`,
    host === '' || url!.protocol === 'redis:' ? '' : 'with TLS',
    variable === undefined ? '' : `{{${variable}}} in Sim`,
  ].filter(Boolean)
  const details = facts.length === 0 ? '' : ` (${facts.join(', ')})`
  return { credential, note: `Create the credential "${credential.name}" for the Redis server${details}.` }
}
