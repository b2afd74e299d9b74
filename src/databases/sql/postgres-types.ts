import { floatOf, integerOf, isoTime, jsonOf } from './values.ts'

type Parse = (text: string) => unknown

/** Types of PostgreSQL: OID, OID of the array, name, parser. Values of other types are texts. */
const known: readonly (readonly [oid: number, arrayOid: number, name: string, parse: Parse])[] = [
  [16, 1000, 'bool', (text) => text === 't'],
  [17, 1001, 'bytea', base64Of],
  [20, 1016, 'int8', integerOf],
  [21, 1005, 'int2', integerOf],
  [23, 1007, 'int4', integerOf],
  [26, 1028, 'oid', integerOf],
  [700, 1021, 'float4', floatOf],
  [701, 1022, 'float8', floatOf],
  [114, 199, 'json', jsonOf],
  [3802, 3807, 'jsonb', jsonOf],
  [1114, 1115, 'timestamp', isoTime],
  [1184, 1185, 'timestamptz', isoTime],
  ...(
    [
      [18, 1002, 'char'],
      [19, 1003, 'name'],
      [25, 1009, 'text'],
      [869, 1041, 'inet'],
      [650, 651, 'cidr'],
      [829, 1040, 'macaddr'],
      [1042, 1014, 'bpchar'],
      [1043, 1015, 'varchar'],
      [1082, 1182, 'date'],
      [1083, 1183, 'time'],
      [1186, 1187, 'interval'],
      [1266, 1270, 'timetz'],
      [1700, 1231, 'numeric'],
      [2950, 2951, 'uuid'],
    ] as const
  ).map(([oid, arrayOid, name]) => [oid, arrayOid, name, (text: string) => text] as const),
]

const byOid: ReadonlyMap<number, { name: string; parse: Parse }> = new Map(
  known.flatMap(([oid, arrayOid, name, parse]) => [
    [oid, { name, parse }] as const,
    [arrayOid, { name: `${name}[]`, parse: (text: string) => arrayOf(text, parse) }] as const,
  ]),
)

export function postgresTypeName(oid: number): string {
  return byOid.get(oid)?.name ?? `oid ${oid}`
}

/** Never throws. */
export function postgresParser(oid: number): Parse {
  return byOid.get(oid)?.parse ?? ((text) => text)
}

/** Reads the text form of an array, such as `{1,NULL,{2,3}}`. Any other text stays as it is. */
function arrayOf(text: string, parse: Parse): unknown {
  // With bounds that do not begin at 1: [0:2]={1,2,3}
  const from = /^(?:\[-?\d+:-?\d+\])+=(?=\{)/.exec(text)?.[0].length ?? 0
  const pattern = /[{},]|"(?:[^"\\]|\\[\s\S])*"|[^{},"]+/gy
  pattern.lastIndex = from
  const open: unknown[][] = [[]]
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [token] = match
    const current = open.at(-1)!
    if (token === '{') {
      const inner: unknown[] = []
      current.push(inner)
      // PostgreSQL has arrays of up to six dimensions.
      if (open.push(inner) > dimensionsMax + 1) return text
    } else if (token === '}') {
      if (open.length < 2) return text
      open.pop()
    } else if (token === 'NULL') current.push(null)
    else if (token !== ',') current.push(parse(token.startsWith('"') ? unescaped(token) : token))
  }
  return open.length === 1 && open[0]!.length === 1 ? open[0]![0] : text
}

const dimensionsMax = 6

function unescaped(token: string): string {
  return token.slice(1, -1).replace(/\\([\s\S])/g, '$1')
}

function base64Of(text: string): string {
  return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('base64') : text
}
