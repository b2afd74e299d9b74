import { block, document } from '../support/make.ts'
import { AuthorizationServer } from '../support/outbound/authorization-server.ts'
import { call, deploy } from '../support/running-service.ts'
import type { Target } from './oauth-targets.ts'

export type ExpiryReport = { expiries: number; calls: number; failed: string[]; refreshes: number; reuses: number }

export type KillReport = {
  rounds: number
  /** Rounds in which the process was killed after the rotation of the token, and before it had read the response. */
  lost: number
  /** Rounds that ended neither with a token nor with a loss that the credential explains. Must be empty. */
  wrong: string[]
}

/**
 * Lets a token expire again and again while many runs need it: `calls` in all, `atOnce` at a time. Each expiry must
 * lead to exactly one refresh, in the whole installation.
 */
export async function countRefreshes(
  target: Target,
  { expiries, calls, atOnce }: { expiries: number; calls: number; atOnce: number },
): Promise<ExpiryReport> {
  await using server = new AuthorizationServer()
  const paths = await prepare(target, server)
  const failed: string[] = []
  const each = Math.ceil(calls / expiries)
  let made = 0
  for (let expiry = 0; expiry < expiries; expiry += 1) {
    server.expire()
    let left = each
    const work = async () => {
      while (left > 0) {
        left -= 1
        made += 1
        const outcome = await execute(target, paths, made % target.processes.length)
        if (outcome !== 'ok') failed.push(outcome)
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, each) }, work))
  }
  return { expiries, calls: made, failed, refreshes: server.counts.refreshes, reuses: server.counts.reuses }
}

/**
 * Kills a process with -9 in the middle of refreshes: before the request, while the server works, after it has rotated
 * the token, and around the response. `random` returns 0 ≤ n < 1.
 */
export async function killRefreshes(
  target: Target,
  { rounds, random, progress }: { rounds: number; random(): number; progress?(round: number, lost: number): void },
): Promise<KillReport> {
  await using server = new AuthorizationServer()
  const paths = await prepare(target, server)
  const report: KillReport = { rounds, lost: 0, wrong: [] }
  for (let round = 1; round <= rounds; round += 1) {
    const at = Math.floor(random() * target.processes.length)
    const process = target.processes[at]!
    server.expire()
    const before = server.counts.refreshes
    const isInRotation = round % 4 === 0
    const rotated = Promise.withResolvers<void>()
    let isHeld = isInRotation
    server.afterRotation = async () => {
      rotated.resolve()
      // The response of a process that is killed is never read.
      if (isHeld) await Bun.sleep(300)
    }
    const running = execute(target, paths, at).catch(() => 'killed')
    await (isInRotation ? Promise.race([rotated.promise, Bun.sleep(2_000)]) : Bun.sleep(random() * 25))
    isHeld = false
    await process.kill('SIGKILL')
    await running
    await target.restart(at)
    const mayBeLost = server.counts.refreshes > before
    const outcome = await execute(target, paths, at)
    if (outcome !== 'ok') {
      const { state, problem } = await credentialOf(target)
      const isExplained =
        outcome.includes('CREDENTIAL_SIGN_IN') && state === 'needs_sign_in' && (problem ?? '').includes('used before')
      if (mayBeLost && isExplained) report.lost += 1
      else report.wrong.push(`round ${round}: ${outcome}, ${state}, ${problem}`)
      await signIn(target)
    }
    progress?.(round, report.lost)
  }
  return report
}

async function prepare(target: Target, server: AuthorizationServer): Promise<string> {
  const { apiKey, processes } = target
  const { url } = processes[0]!
  const body = {
    ...{ name: 'person', kind: 'oauth2_authorization_code', hosts: [server.host] },
    fields: { issuer: server.url, clientId: server.clientId },
    secrets: { clientSecret: server.clientSecret },
  }
  const created = await call(url + credentialsPath(target), apiKey, 'POST', body)
  if (created.status !== 201) throw new Error(`The credential was refused: ${JSON.stringify(created.body)}`)
  await signIn(target)
  const workflow = document({
    name: 'Call',
    blocks: [
      block('start', 'api_trigger'),
      block('call', 'api', { url: `${server.url}/api`, retries: 0, onError: 'continue', credential: 'person' }),
      block('end', 'response', { data: { status: '<call.status>', error: '<call.error>' } }),
    ],
    edges: ['start > call', 'call > end'],
  })
  return new URL(await deploy(url, apiKey, workflow)).pathname
}

/** Signs in as a browser does that follows the redirects. */
async function signIn(target: Target): Promise<void> {
  const { url } = target.processes[0]!
  const headers = { 'sec-fetch-site': 'same-origin' }
  const path = `${url}${credentialsPath(target)}/person/sign-in`
  const started = await fetch(path, { method: 'POST', body: '{}', headers })
  if (!started.ok) throw new Error(`The sign-in did not start: ${await started.text()}`)
  const { url: provider } = (await started.json()) as { url: string }
  const agreed = await fetch(provider, { redirect: 'manual' })
  const back = new URL(agreed.headers.get('location')!)
  const finished = await fetch(url + back.pathname + back.search, { redirect: 'manual' })
  if (finished.status !== 303) throw new Error(`The sign-in failed: ${await finished.text()}`)
}

const credentialsPath = ({ workspaceId }: Target) => `/api/workspaces/${workspaceId}/credentials`

async function credentialOf(target: Target): Promise<{ state: string; problem: string | null }> {
  const { body } = await call(`${target.processes[0]!.url}${credentialsPath(target)}/person`, target.apiKey, 'GET')
  return body as { state: string; problem: string | null }
}

/** Runs the workflow in one process. Returns `ok`, or what went wrong. */
async function execute(target: Target, path: string, at: number): Promise<string> {
  const { status, body } = await call(target.processes[at]!.url + path, target.apiKey, 'POST', {})
  const result = body as { status?: number; error?: { code: string } | null }
  return status === 200 && result.status === 200 ? 'ok' : `${status} ${JSON.stringify(result)}`
}
