import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { newExecutionId, sequenceAt } from '../../src/domain/ids.ts'
import type { LogRow } from '../../src/domain/run/log.ts'
import { createIsoTime } from '../../src/domain/text/iso-time.ts'
import { ZoneMapMaker } from '../../src/store/sqlite/logs/zone-maps.ts'
import { databasePath, openConnection } from '../../src/store/sqlite/open.ts'
import { appendLogs } from '../../src/store/sqlite/writes/logs.ts'
import { deploy, type Installation, initMillrace, serveMillrace } from './service.ts'

/** A folder with a database of many entries, and what a measurement must know of it. */
export type Seeded = Installation & {
  entries: number
  /** The workflow that runs during measurements, one that ran rarely, and one that never did. */
  workflows: { busy: string; rare: string; idle: string }
  /** The execution IDs of the entries at one tenth, the middle and nine tenths. */
  executionIds: string[]
  startedAt: { first: number; last: number }
}

/** Things that are rare happen once in as many entries. */
export const rarity = 50_000
const groupRows = 2_000
const spanShareDefault = 0.1

/**
 * Builds an installation with many entries, as a service of some weeks would have it: twenty workflows in folders, of
 * which a few are busy, 1 % errors, a third of the runs with a model, durations and costs with long tails, and one
 * entry in 50,000 with a trigger, a workflow, a model, a duration or a cost of its own. Written through the store's own
 * code.
 */
export async function seed(directory: string, entries: number, spanShare = spanShareDefault): Promise<Seeded> {
  if (existsSync(directory)) throw new Error(`${directory} is there already`)
  const installation = initMillrace(directory)
  const workflows = await createWorkflows(installation)
  const connection = openConnection({ path: databasePath(directory), sync: 'normal', manualCheckpoints: true })
  const { id: workspaceId } = connection.get<{ id: string }>('SELECT id FROM workspaces')!
  const draft = drafting({ workspaceId, workflows, spanShare })
  const zones = new ZoneMapMaker()
  const last = Date.now() - 60_000
  const stepMs = Math.min(200, (25 * 86_400_000) / entries)
  const first = last - entries * stepMs
  const executionIds: string[] = []
  let sequence = sequenceAt(first)
  const startedAt = performance.now()
  for (let done = 0; done < entries; done += groupRows) {
    const rows: LogRow[] = []
    for (let index = done; index < Math.min(entries, done + groupRows); index += 1) {
      const endedAt = Math.floor(first + index * stepMs)
      sequence = Math.max(sequence + 1, sequenceAt(endedAt))
      rows.push(draft(index, sequence, endedAt))
    }
    connection.write(() => appendLogs(connection, rows))
    for (const share of [0.1, 0.5, 0.9]) {
      const index = Math.floor(entries * share) - done
      if (index >= 0 && index < rows.length) executionIds.push(rows[index]!.executionId)
    }
    while (connection.write(() => zones.step(connection, workspaceId))) {}
    if (done % 1_000_000 === 0) connection.script('PRAGMA wal_checkpoint(TRUNCATE)')
  }
  const seconds = (performance.now() - startedAt) / 1000
  connection.script('PRAGMA wal_checkpoint(TRUNCATE)')
  const bytes = statSync(databasePath(directory)).size
  const long = connection.get<{ bytes: number }>('SELECT sum(length(CAST(content AS BLOB))) AS bytes FROM log_chunks')!
  connection.close()
  const each = (all: number) => (all / entries).toFixed(0)
  console.log(
    `${entries} entries in ${seconds.toFixed(0)} s, ${Math.round(spanShare * 100)} % of them with 1.2 kB of spans: ` +
      `${(bytes / 1e9).toFixed(2)} GB, ${each(bytes)} bytes an entry, ${each(bytes - long.bytes)} without outputs and spans`,
  )
  const { busy, rare, idle } = workflows
  const seeded = { ...installation, entries, workflows: { busy, rare, idle }, executionIds, startedAt: { first, last } }
  await Bun.write(join(directory, 'bench.json'), JSON.stringify(seeded))
  return seeded
}

/** What `seed` left in a folder. */
export async function seededIn(directory: string): Promise<Seeded> {
  return { ...((await Bun.file(join(directory, 'bench.json')).json()) as Seeded), directory }
}

type Workflows = Seeded['workflows'] & { others: string[] }

async function createWorkflows(installation: Installation): Promise<Workflows> {
  const service = await serveMillrace(installation)
  const trigger = { id: 'start', type: 'api_trigger', name: 'Start', params: {} }
  const response = {
    id: 'answer',
    type: 'response',
    name: 'Answer',
    params: { data: { ok: true, input: '<start.input>' } },
  }
  const create = async (name: string, folder: string) => {
    const document = {
      name,
      folder,
      blocks: { start: trigger, answer: response },
      edges: [{ source: 'start', target: 'answer' }],
    }
    return (await deploy(service, document)).split('/').at(-2) ?? ''
  }
  try {
    const others: string[] = []
    for (let index = 0; index < 17; index += 1) others.push(await create(`Workflow ${index}`, `team ${index % 4}`))
    const busy = await create('Busy', 'team 0/north')
    return { others, busy, rare: await create('Rare', 'team 5'), idle: await create('Idle', 'team 6') }
  } finally {
    await service.stop()
  }
}

type DraftOptions = { workspaceId: string; workflows: Workflows; spanShare: number }

function drafting({ workspaceId, workflows, spanShare }: DraftOptions) {
  const iso = createIsoTime()
  let state = 42
  // Numbers that repeat from run to run: the same file each time.
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
  return (index: number, sequence: number, endedAt: number): LogRow => {
    const isRare = index % rarity === rarity / 2
    const durationMs = isRare ? 600_000 : Math.round((1 + 40 * random() ** 8 * 100) * 1000) / 1000
    const startedAt = Math.floor(endedAt - durationMs)
    const model = random() < 0.33 ? (random() < 0.7 ? 'gpt-5-mini' : 'claude-haiku-4-5') : undefined
    const models = isRare ? ['rare-model'] : model === undefined ? [] : [model]
    const costTotal = isRare ? 99 : model === undefined ? 0 : Math.ceil(random() * 400) / 1e5
    const executionId = newExecutionId()
    const other = workflows.others[Math.floor(random() ** 3 * workflows.others.length)]!
    const hasSpans = random() < spanShare
    return {
      ...{ sequence, executionId, workspaceId, version: 1, createdAt: null, startedAt, endedAt, durationMs },
      workflowId: isRare ? workflows.rare : random() < 0.4 ? workflows.busy : other,
      level: random() < 0.01 ? 'error' : 'info',
      trigger: isRare ? 'chat' : random() < 0.8 ? 'api' : random() < 0.5 ? 'webhook' : 'schedule',
      ...{ costTotal, models, rawOutput: null },
      cost: models.length === 0 ? null : costText(models[0]!, costTotal),
      finalOutput: `{"ok":true,"input":{"order":${Math.floor(random() * 1e9)}}}`,
      traceSpans: hasSpans ? spansText(executionId, iso(startedAt), iso(endedAt), durationMs, random) : '[]',
    }
  }
}

function costText(model: string, total: number): string {
  const tokens = { prompt: 812, completion: Math.ceil(total * 1e5), total: 812 + Math.ceil(total * 1e5) }
  const part = { input: total / 4, output: (total * 3) / 4, total, tokens }
  return JSON.stringify({ total, tokens, models: { [model]: part } })
}

/** Four spans, some 1.2 kB, with values that differ from run to run. */
function spansText(executionId: string, startTime: string, endTime: string, duration: number, random: () => number) {
  const span = (id: string, type: string, input: unknown, output: unknown, children: unknown[] = []) => {
    return {
      id,
      name: `Block ${id}`,
      type,
      blockId: id,
      status: 'success',
      startTime,
      endTime,
      duration,
      input,
      output,
      children,
    }
  }
  const order = { order: Math.floor(random() * 1e9), customer: executionId.slice(0, 13), amount: random() * 1000 }
  const children = [
    span('start', 'api_trigger', order, { input: order }),
    span('if', 'condition', { conditions: [{ id: 'big' }] }, { branch: 'big', result: true }),
    span('answer', 'response', { data: { ok: true, input: order } }, { data: { ok: true, input: order }, status: 200 }),
  ]
  return JSON.stringify([span('run', 'workflow', order, { ok: true }, children)])
}
