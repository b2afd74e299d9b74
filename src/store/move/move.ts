import { AppError } from '../../domain/errors.ts'
import { Checksum } from './row.ts'
import type { MoveSource, MoveTarget } from './sides.ts'
import { type MovedTable, movedTables, type Row } from './tables.ts'

export type MoveOptions = {
  source: MoveSource
  target: MoveTarget
  /** Called before rows are moved. */
  prepare(begun: MoveBegin): Promise<void>
  onProgress(progress: MoveProgress): void
}

/** How a call begins: `continued` after an earlier one, or again, because of what became of it. */
export type MoveBegin = 'first' | 'continued' | 'source changed' | 'rows differed'

/** `rows` of `count` rows of a table have been copied, or compared. */
export type MoveProgress = { kind: 'copy' | 'compare'; table: string; rows: number; count: number }

/** `tables`: rows by table. The target is complete if no table is `different`. */
export type MoveResult = { tables: Readonly<Record<string, number>>; different: readonly Difference[] }

/** The rows of a table on both sides: their number, and their checksum. */
export type Difference = { table: string; source: Checksum; target: Checksum }

/**
 * Copies an installation from one store to another, and at the end reads both again and compares them. The target notes
 * how far this is in the transactions that write the rows, so the next call continues a move that was killed. If the
 * source has changed in the meantime, or the comparison failed, the next call begins again.
 */
export async function moveInstallation({ source, target, prepare, onProgress }: MoveOptions): Promise<MoveResult> {
  const counts = await countsOf(source)
  await prepare(await begin(source, target, counts))
  const report =
    (kind: MoveProgress['kind'], { name }: MovedTable) =>
    (rows: number) =>
      onProgress({ kind, table: name, rows, count: counts.get(name)! })
  for (const table of movedTables) await copy(table, { source, target }, report('copy', table))
  const tables: Record<string, number> = {}
  const different: Difference[] = []
  for (const table of movedTables) {
    const [ours, theirs] = await Promise.all([
      checksumOf(source, table, report('compare', table)),
      target.read((rows) => checksumOf(rows, table)),
    ])
    tables[table.name] = theirs.rows
    if (!ours.equals(theirs)) different.push({ table: table.name, source: ours, target: theirs })
  }
  if (different.length > 0) await target.setNote(differs, 'true')
  else await target.finish(await source.highestNumbers())
  return { tables, different }
}

// Names of notes. A note for each table, `rows of …`, says up to which sequence it was copied, and how many rows, or
// that it is `done`.
const installation = 'installation'
const contents = 'contents'
const differs = 'differs'
const done = 'done'
const rowsOf = ({ name }: MovedTable) => `rows of ${name}`

async function countsOf(source: MoveSource): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const table of movedTables) counts.set(table.name, await source.count(table))
  return counts
}

/** Throws `CONFLICT` when the target is the unfinished move of another installation. */
async function begin(source: MoveSource, target: MoveTarget, counts: ReadonlyMap<string, number>): Promise<MoveBegin> {
  const id = await idOf(source)
  const now = await contentsOf(source, counts)
  const known = await target.note(installation)
  if (known !== undefined && known !== id) {
    throw new AppError(
      'CONFLICT',
      'The target is from an unfinished move of another installation. Nothing was changed. Move to another target, or ' +
        'delete this one.',
    )
  }
  const hasDifferences = (await target.note(differs)) !== undefined
  const hasChanged = known !== undefined && (await target.note(contents)) !== now
  if (known !== undefined && !hasDifferences && !hasChanged) return 'continued'
  if (known !== undefined) await target.clear()
  await target.setNote(contents, now)
  await target.setNote(installation, id)
  if (hasDifferences) return 'rows differed'
  return hasChanged ? 'source changed' : 'first'
}

/** The ID of the oldest account distinguishes installations. */
async function idOf(source: MoveSource): Promise<string> {
  const users = movedTables.find(({ name }) => name === 'users')!
  const column = Object.keys(users.columns).indexOf('id')
  let oldest: string | undefined
  for await (const [first] of source.rows(users)) oldest ??= String(first![column])
  if (oldest === undefined) throw new Error('The installation has no account')
  return oldest
}

/** A text that changes when the source does: quick, so of the log only the numbers of rows. */
async function contentsOf(source: MoveSource, counts: ReadonlyMap<string, number>): Promise<string> {
  const texts: string[] = []
  for (const table of movedTables) {
    const sum = table.bySequence ? counts.get(table.name) : (await checksumOf(source, table)).text
    texts.push(`${table.name} ${sum}`)
  }
  return new Bun.CryptoHasher('sha256').update(texts.join('\n')).digest('hex')
}

type Sides = Pick<MoveOptions, 'source' | 'target'>

async function copy(table: MovedTable, { source, target }: Sides, report: (rows: number) => void): Promise<void> {
  const name = rowsOf(table)
  const reached = await target.note(name)
  if (reached === done) return
  if (!table.bySequence) return await target.addAll(table, source.rows(table), { name, value: done })
  let [after = 0, rows = 0] = reached?.split(' ').map(Number) ?? []
  let writing: Promise<void> = Promise.resolve()
  for await (const batch of source.rows(table, after)) {
    // While one batch is written, the next one is read.
    await writing
    report(rows)
    after = batch.at(-1)![0] as number
    rows += batch.length
    writing = target.addSome(table, batch, { name, value: `${after} ${rows}` })
    writing.catch(() => undefined)
  }
  await writing
  await target.setNote(name, done)
}

async function checksumOf(
  side: { rows(table: MovedTable): AsyncIterable<readonly Row[]> },
  table: MovedTable,
  report?: (rows: number) => void,
): Promise<Checksum> {
  const checksum = new Checksum(table)
  for await (const rows of side.rows(table)) {
    checksum.add(rows)
    report?.(checksum.rows)
  }
  return checksum
}
