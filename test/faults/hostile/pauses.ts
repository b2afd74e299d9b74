import { block, type document } from '../../support/make.ts'
import type { Attack, AttackRequest } from './attacks.ts'
import { sent, valueBombs } from './bodies.ts'
import type { Target } from './target.ts'

type Document = Parameters<typeof document>[0]
type Make = (blocks: Document['blocks'], edges: string[], name: string) => Promise<string>
type Access = Pick<Target, 'url' | 'apiKey' | 'workspaceId'>

/** One paused run. `link`: where programs answer it; undefined for a wait. */
export type PausedRun = { workflowId: string; executionId: string; contextId: string; link: string | undefined }
export type PausedRuns = Readonly<Record<'question' | 'form' | 'board' | 'call' | 'wait', PausedRun>>

const fieldsMax = 50
const script = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`
const controls = '\u0007\u001b[31m\u202eevil\u2066\u200b'

/** Deploys workflows that pause, and starts a run of each. */
export async function startPausedRuns(make: Make, access: Access): Promise<PausedRuns> {
  const start = block('start', 'api_trigger', {})
  const huge = `${script}${controls}${'long '.repeat(2_000)}`
  const fields = Array.from({ length: fieldsMax }, (_, at) => ({
    ...{ name: `field${at}`, type: 'string', required: true, label: `${script}${at}` },
    options: Array.from({ length: 100 }, (_, option) => `${'x'.repeat(100)}${option}`),
  }))
  const pauses = {
    question: block('pause', 'approval', { title: 'Go on?' }),
    form: block('pause', 'approval', { title: `${script} \u202egnorw`, message: huge, fields }),
    board: block('pause', 'approval', { title: 'Three of you?', access: 'members', required: 3 }),
    call: block('pause', 'wait_for_call', {}),
    wait: block('pause', 'wait', { for: '300 days' }),
  }
  const started: Partial<Record<keyof PausedRuns, PausedRun>> = {}
  for (const [name, pause] of Object.entries(pauses)) {
    const endpoint = await make([start, pause], ['start > pause'], `paused ${name}`)
    started[name as keyof PausedRuns] = await startOne(access, endpoint)
  }
  return started as PausedRuns
}

async function startOne({ url, apiKey, workspaceId }: Access, endpoint: string): Promise<PausedRun> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'x-execution-mode': 'async' }
  const { executionId } = (await (await fetch(endpoint, { method: 'POST', headers, body: '{}' })).json()) as {
    executionId: string
  }
  const list = `${url}/api/workspaces/${workspaceId}/pauses`
  const workflowId = new URL(endpoint).pathname.split('/')[3] ?? ''
  for (;;) {
    const paused = await fetch(`${url}/api/workflows/${workflowId}/paused/${executionId}`, { headers })
    const { pausePoints } = (await paused.json()) as { pausePoints?: { contextId: string }[] }
    const contextId = pausePoints?.[0]?.contextId
    if (contextId === undefined) {
      await Bun.sleep(10)
      continue
    }
    const { callbackUrl } = (await (await fetch(`${list}/${contextId}`, { headers })).json()) as {
      callbackUrl?: string
    }
    return { workflowId, executionId, contextId, link: callbackUrl && new URL(new URL(callbackUrl).pathname, url).href }
  }
}

/** Requests at everything that pauses offer. None of them may fail with 500. */
export function pauseAttacks(target: Target, isShort: boolean): Attack[] {
  const { url, apiKey, workspaceId, paused } = target
  const key = { 'x-api-key': apiKey }
  const json = { ...key, 'content-type': 'application/json' }
  const get = (path: string): AttackRequest => ({ url: `${url}${path}`, method: 'GET', headers: key })
  const post = (to: string, body: string, headers: Record<string, string> = json): AttackRequest => ({
    ...{ url: to.startsWith('/') ? `${url}${to}` : to, method: 'POST', headers, bytes: Buffer.from(body) },
  })
  const base = `/api/workspaces/${workspaceId}`
  const { question, form, board, call, wait } = paused
  const few = isShort ? 200 : 2_000
  const anonymous = { 'content-type': 'application/json' }
  const attacks: Attack[] = [
    {
      name: 'pause: tampered links',
      requests: tamperedLinks(question.link!).flatMap((link) => [open(link), post(link, '{}')]),
    },
    {
      name: 'pause: guessed links',
      requests: Array.from({ length: few }, () => get(`/api/pauses/${crypto.randomUUID()}.${'A'.repeat(22)}`)),
    },
    ...valueBombs().flatMap((plain) =>
      Object.entries({ answer: form.link!, call: call.link! }).map(([kind, link]) => {
        const { headers, bytes } = sent(plain, 'none')
        return { name: `pause: ${kind} with ${plain.name}`, requests: Array(4).fill({ url: link, headers, bytes }) }
      }),
    ),
    {
      name: 'pause: answers that do not fit',
      requests: [
        ...['', 'null', '[]', '0', '"x"', '{', '{"approved":"yes"}', '{"approved":null}', '{"fields":[]}'],
        ...['{"fields":{"field0":{}}}', '{"fields":{"__proto__":{"a":1}}}', '{"fields":"x"}'],
      ].map((body) => post(form.link!, body, anonymous)),
    },
    {
      name: 'pause: other methods and types',
      requests: ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].flatMap((method) => [
        ...[question.link!, question.link!.replace('/api/pauses/', '/pause/')].map((to) => ({
          url: to,
          method,
          headers: {},
        })),
        { url: `${url}${base}/pauses/${question.contextId}/resume`, method, headers: key },
      ]),
    },
    {
      name: 'pause: bodies of other types',
      requests: [
        'text/xml',
        'multipart/form-data',
        'application/x-www-form-urlencoded',
        'image/png',
        'a/b; charset=utf-16',
      ].map((type) => post(form.link!, 'field0=1', { 'content-type': type })),
    },
    {
      name: 'pause: pages',
      requests: [form, question].flatMap(({ link }) => [open(link!), open(link!.replace('/api/pauses/', '/pause/'))]),
    },
    {
      name: 'pause: a storm of answers of one account',
      requests: Array(few).fill(post(board.link!, '{}')) as AttackRequest[],
      atOnce: 200,
    },
    {
      name: 'pause: odd times',
      requests: [
        ...[
          'null',
          '""',
          '"NaN"',
          '-1',
          '1e400',
          '"275760-09-13T00:00:00Z"',
          '"+275760-09-13T00:00:01Z"',
          '"-000001-01-01"',
        ],
        ...[
          '"0000-01-01T00:00:00Z"',
          '"9999-12-31T23:59:59Z"',
          '"1970-01-01T00:00:00Z"',
          '{}',
          '[1]',
          '"2027-02-30T00:00:00Z"',
        ],
      ].map((until) => post(`${base}/pauses/${form.contextId}/extend`, `{"until":${until}}`)),
    },
    {
      name: 'pause: of no workspace, or of another one',
      requests: ['resume', 'cancel', 'extend'].flatMap((verb) =>
        [
          `${base}/pauses/${oddIds[0]}`,
          ...oddIds.map((id) => `${base}/pauses/${id}`),
          `/api/workspaces/other/pauses/${wait.contextId}`,
        ].map((path) => post(`${path}/${verb}`, '{"until":null}')),
      ),
    },
    {
      name: 'pause: tampered cursors and filters',
      requests: ['pauses', 'runs'].flatMap((list) =>
        [...oddIds, 'WzFd', 'W10', 'WyJhIl0', 'A'.repeat(5_000)].flatMap((value) => [
          ...['cursor', 'workflowId', 'kind', 'status', 'limit'].map((name) => get(`${base}/${list}?${name}=${value}`)),
        ]),
      ),
    },
    {
      name: "pause: odd IDs at Sim's addresses",
      requests: oddIds.flatMap((id) => [
        ...[get(`/api/workflows/${id}/paused`), get(`/api/workflows/${form.workflowId}/paused/${id}`)],
        ...[get(`/api/resume/${id}/${form.executionId}`), post(`/api/resume/${form.workflowId}/${id}`, '{}')],
        ...['{}', '[]', '{"input":[]}'].map((body) =>
          post(`/api/resume/${form.workflowId}/${form.executionId}/${id}`, body),
        ),
      ]),
    },
    // The first of them ends the pause.
    {
      name: 'pause: answers at once',
      requests: Array(few).fill(post(question.link!, '{}', anonymous)) as AttackRequest[],
      atOnce: 200,
    },
  ]
  return attacks.map((attack) => ({ atOnce, ...attack }))
}

/** Attackers at once. */
const atOnce = 8

const oddIds = ['%00', '%ff', '..%2f..', '%F0%9F%92%A9', '%27%20OR%201=1--', '-1', '1e999', 'null', 'a'.repeat(3_000)]

/** Without a key. */
function open(link: string): AttackRequest {
  return { url: link, method: 'GET', headers: {} }
}

function tamperedLinks(link: string): string[] {
  const [contextId = '', signature = ''] = link.slice(link.lastIndexOf('/') + 1).split('.')
  const base = link.slice(0, link.lastIndexOf('/') + 1)
  const tokens = [
    ...['', '.', '..', contextId, `${contextId}.`, `.${signature}`, `${contextId}.${signature}.${signature}`],
    ...[
      `${contextId}.${signature}=`,
      `${contextId}.${signature.slice(0, -1)}`,
      `${contextId.toUpperCase()}.${signature}`,
    ],
    ...[`${contextId}%00.${signature}`, `${contextId}.${signature}%20`, `${contextId}.${'A'.repeat(7_000)}`, '%ff.%fe'],
    ...[`${contextId}.${signature.split('').toReversed().join('')}`, `%F0%9F%92%A9.${signature}`],
  ]
  return tokens.map((token) => `${base}${token}`)
}
