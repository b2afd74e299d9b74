import type { Config } from '../../config.ts'
import type { ProcessRow } from '../../store/process-store.ts'
import type { Store } from '../../store/store.ts'
import { type Command, CommandError, type CommandGroup } from '../command.ts'
import { withInstallation } from '../installation/installation.ts'
import { usesPostgres } from '../installation/open-store.ts'
import { printList } from '../support/print-list.ts'
import type { Terminal } from '../support/terminal.ts'

const list: Command = {
  summary: 'prints the processes that serve the installation, and what each holds',
  details: [
    'The leader runs schedules and retention. A process without a sign of life for 30 seconds counts as gone: others take',
    'over its work.',
  ].join('\n'),
  settings: ['store'],
  json: true,
  examples: ['processes list', 'processes list --json'],
  async run(call) {
    const shown = await withProcesses(call.config, 'processes list', (store) => store.listProcesses())
    printList(call, shown, {
      line: (row) => [row.id, describe(row)],
      data: dataOf,
      none: 'No process serves the installation now.',
    })
    return 0
  },
}

export const processes: CommandGroup = {
  summary: 'the processes that serve an installation on PostgreSQL',
  commands: { list },
}

export const drain: Command = {
  summary: 'lets a process finish its work and take no more, and waits until it holds nothing',
  details: [
    'Other processes take over its schedules, deliveries and waiting runs; GET /health/ready of the process responds with',
    '503, so that a load balancer sends it no more requests. Then stop it. It works again only after a restart.',
  ].join('\n'),
  arguments: [{ name: 'ID', description: 'the ID of the process, as processes list prints it' }],
  flags: { 'no-wait': { description: 'do not wait until it holds nothing' } },
  settings: ['store'],
  examples: ['drain 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21', 'drain 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21 --no-wait'],
  async run({ config, terminal, switches, arguments: [id = ''] }) {
    await withProcesses(config, 'drain', async (store) => {
      const before = await find(store, id)
      if (!before || !(await store.drainProcess(id))) {
        throw new CommandError(`No process ${id} serves the installation.`, 'List them: millrace processes list')
      }
      terminal.say(`The process ${id} on ${before.host} takes no more work.`)
      if (!switches.has('no-wait')) await waitUntilEmpty(store, before, terminal)
    })
    return 0
  },
}

/** The row says what a process holds, as of its latest renewal of the lease. */
async function waitUntilEmpty(store: Store, before: ProcessRow, { say }: Terminal): Promise<void> {
  let said = ''
  for (;;) {
    const row = await find(store, before.id)
    if (!row || row.isGone) return say('It has ended.')
    const isCurrent = row.heartbeatAt > before.heartbeatAt
    const text = holdsText(row)
    if (isCurrent && text === '') return say('It holds nothing any more, and can be stopped.')
    const now = text === '' ? 'Waiting for its next sign of life.' : `It still holds ${text}.`
    if (now !== said) say(now)
    said = now
    await Bun.sleep(lookEveryMs)
  }
}

async function find(store: Store, id: string): Promise<ProcessRow | undefined> {
  return (await store.listProcesses()).find((row) => row.id === id)
}

function withProcesses<Result>(
  config: Config,
  command: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  if (usesPostgres(config)) return withInstallation(config, work)
  throw new CommandError(
    `millrace ${command} works only for installations on PostgreSQL. One process serves an installation on SQLite.`,
    'Name the database with --store or MILLRACE_STORE. To stop the process of an installation on SQLite, send it SIGTERM.',
  )
}

/** The shape for programs. */
function dataOf({ id, host, version, startedAt, heartbeatAt, isLeader, isDraining, holds }: ProcessRow) {
  const times = { startedAt: new Date(startedAt).toISOString(), heartbeatAt: new Date(heartbeatAt).toISOString() }
  return { id, host, version, ...times, leader: isLeader, draining: isDraining, holds }
}

function describe(row: ProcessRow): string {
  const { host, pid, version, heartbeatAt } = row
  const states = [
    ...(row.isGone ? [`gone, last heard of at ${new Date(heartbeatAt).toISOString()}`] : []),
    ...(row.isLeader ? ['leader'] : []),
    ...(row.isDraining ? ['draining'] : []),
  ]
  const holds = holdsText(row)
  return [
    `${host}, process ${pid}, version ${version}`,
    ...states,
    holds === '' ? 'holds nothing' : `holds ${holds}`,
  ].join('; ')
}

function holdsText({ holds }: ProcessRow): string {
  return Object.entries(holds)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${count === 1 ? singular[kind as keyof ProcessRow['holds']] : kind}`)
    .join(', ')
}

const singular = { runs: 'run', jobs: 'job', deliveries: 'delivery', schedules: 'schedule' } as const
const lookEveryMs = 1_000
