import type { FieldPacket } from 'mysql2'
import { isoTime, jsonOf } from './values.ts'

const names: ReadonlyMap<number, string> = new Map([
  ...([
    [0, 'decimal'],
    [1, 'tinyint'],
    [2, 'smallint'],
    [3, 'int'],
    [4, 'float'],
    [5, 'double'],
  ] as const),
  ...([
    [7, 'timestamp'],
    [8, 'bigint'],
    [9, 'mediumint'],
    [10, 'date'],
    [11, 'time'],
    [12, 'datetime'],
  ] as const),
  ...([
    [13, 'year'],
    [15, 'varchar'],
    [16, 'bit'],
    [245, 'json'],
    [246, 'decimal'],
    [247, 'enum'],
  ] as const),
  ...([
    [248, 'set'],
    [252, 'text'],
    [253, 'varchar'],
    [254, 'char'],
    [255, 'geometry'],
  ] as const),
])

const binaryNames: ReadonlyMap<string, string> = new Map([
  ['text', 'blob'],
  ['varchar', 'varbinary'],
  ['char', 'binary'],
])

/** MariaDB sends JSON as a text, and says so in a member that the types of `mysql2` do not have. */
export type MysqlField = FieldPacket & { extendedFormat?: string }

const isJson = ({ columnType, extendedFormat }: MysqlField) => columnType === 245 || extendedFormat === 'json'

/** The character set that stands for bytes. */
const binary = 63

export function mysqlTypeName(field: MysqlField): string {
  if (isJson(field)) return 'json'
  const { columnType = -1, characterSet } = field
  const name = names.get(columnType) ?? `type ${columnType}`
  return characterSet === binary ? (binaryNames.get(name) ?? name) : name
}

/** A value of `mysql2` as JSON data. Its options make numbers exact or texts, and times texts. Never throws. */
export function mysqlValue(value: unknown, field: MysqlField | undefined): unknown {
  const type = field?.columnType
  if (value instanceof Uint8Array) return type === 16 ? bitsOf(value) : value.toBase64()
  if (typeof value === 'string') {
    if (field && isJson(field)) return jsonOf(value)
    if (type === 12) return isoTime(value)
    // The session is in UTC.
    if (type === 7) return isoTime(`${value}+00`)
  }
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return value
}

function bitsOf(bytes: Uint8Array): number | string {
  const number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  return number <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(number) : String(number)
}
