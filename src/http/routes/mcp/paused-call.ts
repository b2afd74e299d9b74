import { sleep } from '../../../domain/clock.ts'
import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { StoredPause } from '../../../domain/run/pause.ts'
import { readTrace } from '../../../domain/run/trace.ts'
import type { AskedPause } from '../../../engine/jobs/pause-answers.ts'
import { type Caller, roleOf } from '../../access/auth.ts'
import { mayAnswer } from '../../access/pause-access.ts'
import { pauseFacts } from '../../responses/pauses/paused-response.ts'
import type { Services } from '../../services.ts'
import type { ApiCall } from './api-call.ts'
import type { CallInFlight } from './calls-in-flight.ts'
import { type Elicited, type ElicitParams, questionId, questionOf } from './elicitation.ts'
import { notificationText, requestText } from './json-rpc.ts'
import { failedText, pausedText } from './run-results.ts'
import { resultOf } from './tool-result.ts'

/** A call whose run has paused. `left`: aborts when the client has left, or has cancelled the call. */
export type PausedCall = {
  services: Pick<Services, 'store' | 'runs' | 'clock' | 'unsent'>
  caller: Caller
  api: ApiCall
  call: CallInFlight
  left: AbortSignal
  /** The version of the protocol. */
  version: string
  send(message: string): void
  /** Reports progress; undefined when the client does not want that. */
  note: ((message: string) => void) | undefined
}

/**
 * Asks the person who uses the client at the approvals of a paused run, and waits until the run has ended, or nobody is
 * left to ask. Resolves with the result of the tool as JSON text.
 */
export async function continuePaused(paused: PausedCall, executionId: string): Promise<string> {
  const { services, api, left } = paused
  const { store, clock } = services
  const closed = new Set<string>()
  let delayMs = firstDelayMs
  for (;;) {
    const run = await api('GET', `/api/jobs/${encodeURIComponent(executionId)}`)
    if (isEnded.has(String(run['status']))) return await endedText(services, executionId, run)
    const pauses = await store.listRunPauses(executionId)
    const open = pauses.filter(({ state }) => state === 'open')
    const unanswered = open.filter(({ contextId }) => !closed.has(contextId))
    const question = left.aborted ? undefined : await nextQuestion(paused, unanswered)
    const answer = question && (await askUntilAnswered(paused, question))
    if (question) closed.add(question.asked.pause.contextId)
    if (left.aborted || answer === 'nothing' || (!question && run['status'] === 'paused')) {
      const statusUrl = `/api/jobs/${executionId}`
      return pausedText({ success: true, status: 'paused', executionId, paused: open.map(pauseFacts), statusUrl })
    }
    if (question) delayMs = firstDelayMs
    await sleep(clock, delayMs, left).catch(() => undefined)
    delayMs = Math.min(delayMs * 2, delayMsMax)
  }
}

const isEnded: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

type Question = { asked: AskedPause; params: ElicitParams }

/** The oldest open approval that the key may answer, and the client can show. */
async function nextQuestion(
  { services: { store, runs }, caller, version }: PausedCall,
  pauses: readonly StoredPause[],
): Promise<Question | undefined> {
  const approvals = pauses.filter(({ kind }) => kind === 'approval')
  if (approvals.length === 0) return undefined
  const email = (await store.findUser(caller.userId))?.email.toLowerCase() ?? ''
  for (const pause of approvals.toSorted((one, other) => one.since - other.since)) {
    const asked = runs.pauses.answers.read(pause)
    const isFree = mayAnswer({ role: roleOf(caller, pause.workspaceId), email }, asked.content)
    const params = questionOf(asked.content, version)
    if (isFree && params && !asked.answers.some(({ by }) => by === email)) return { asked, params }
  }
  return undefined
}

/** `nothing`: the person has not answered. `closed`: the pause has an answer, or has ended in another way. */
async function askUntilAnswered(paused: PausedCall, { asked, params }: Question): Promise<'nothing' | 'closed'> {
  let problem = ''
  for (let number = 1; number <= asksMax; number += 1) {
    const message = problem === '' ? params.message : `${problem}\n\n${params.message}`
    const answer = await ask(paused, asked, { params: { ...params, message }, number })
    if (answer === 'closed') return 'closed'
    if (answer.action === 'cancel') return 'nothing'
    try {
      await giveAnswer(paused.api, asked.pause, answer)
      return 'closed'
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (closing.has(error.code)) return 'closed'
      if (error.code !== 'INVALID_INPUT') throw error
      const details = error.details?.map((detail) => detail.message) ?? []
      problem = details.length > 0 ? details.join(' ') : error.message
    }
  }
  return 'nothing'
}

/** Why an answer comes too late. */
const closing: ReadonlySet<string> = new Set(['ALREADY_RESUMED', 'EXPIRED', 'CANCELLED', 'CONFLICT', 'NOT_FOUND'])

/** Asks once. When the pause ends in another way meanwhile, the client takes the question back. */
async function ask(
  { services, call, left, send, note }: PausedCall,
  { pause: { contextId } }: AskedPause,
  { params, number }: { params: object; number: number },
): Promise<Elicited | 'closed'> {
  const { store, clock } = services
  const id = questionId({ callId: call.id, contextId }, number)
  const answered = new AbortController()
  const answer = call.answerTo(id)?.finally(() => answered.abort())
  if (!answer) return { action: 'cancel', content: {} }
  send(requestText(id, 'elicitation/create', params))
  const woken = AbortSignal.any([left, answered.signal])
  for (let looks = 0; ; looks += 1) {
    // Progress keeps clients from giving up.
    if (looks % looksPerNote === 0) note?.('Waits for an answer')
    await sleep(clock, lookEveryMs, woken).catch(() => undefined)
    if (answered.signal.aborted) return await answer
    if (left.aborted) return { action: 'cancel', content: {} }
    const pause = await store.getPause(contextId)
    if (pause?.state === 'open') continue
    send(notificationText('notifications/cancelled', { requestId: id, reason: 'The approval has ended.' }))
    return 'closed'
  }
}

/** Answers a pause through the API, so that the same people may do it. */
export async function giveAnswer(
  api: ApiCall,
  { workflowId, executionId, contextId }: { workflowId: string; executionId: string; contextId: string },
  { action, content }: Elicited,
): Promise<void> {
  const path = [workflowId, executionId, contextId].map(encodeURIComponent).join('/')
  const input = action === 'accept' ? { ...content, approved: true } : { approved: false }
  await api('POST', `/api/resume/${path}`, { body: { input } })
}

/** The result of a run that has ended, from the response of the API. */
async function endedText(
  { store, unsent }: PausedCall['services'],
  executionId: string,
  { output, error }: Record<string, unknown>,
): Promise<string> {
  if (isObject(error)) {
    const { code, message, blockId = null, blockName = null } = error
    return failedText({ error: message, code, blockId, blockName, executionId })
  }
  const isResponse =
    isObject(output) &&
    Object.keys(output).toSorted().join() === 'data,headers,status' &&
    (await unsent.inTurn(async () => {
      const row = await store.getExecution(executionId)
      return row !== undefined && readTrace(row.traceSpans).children.some(isSentResponse)
    }))
  const value = isResponse ? output['data'] : output
  return resultOf(JSON.stringify(value ?? null), isObject(value))
}

const isSentResponse = ({ type, status }: { type: string; status: string }) =>
  type === 'response' && status === 'success'

const firstDelayMs = 25
const delayMsMax = 1_000
/** Answers of the client's user arrive at once. Polling finds other answers and the end of a pause. */
const lookEveryMs = 3_000
/** Clients give up after a minute without progress. */
const looksPerNote = 5
/** How often a person may correct an answer that does not fit. */
const asksMax = 10
