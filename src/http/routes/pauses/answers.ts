import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import type { AskedPause } from '../../../engine/jobs/pause-answers.ts'
import { endedBefore } from '../../../engine/jobs/pause-commands.ts'
import { senderCheckOf } from '../../../triggers/webhook-sender.ts'
import { type Caller, roleOf } from '../../access/auth.ts'
import { addressOf, type ServerPort, visitorOf } from '../../access/connection.ts'
import type { Door, ResponseSet } from '../../access/door.ts'
import { assertMayAnswer } from '../../access/pause-access.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import { assertSender } from '../../access/sender.ts'
import { withoutSession } from '../../access/session-cookie.ts'
import { toAppError } from '../../errors.ts'
import { route } from '../../openapi/route.ts'
import { parseJsonBody, readBytes, textOf } from '../../requests/body.ts'
import { receiveFormBody } from '../../requests/form-body.ts'
import { Answer, Answered, AskedFacts } from '../../responses/pauses/pause-schemas.ts'
import { askedFacts } from '../../responses/pauses/paused-response.ts'
import { maybe } from '../../responses/schema-parts.ts'
import type { PauseServices } from '../../run-services.ts'
import { ends, giveAnswer } from './give-answer.ts'
import { pageAfter } from './next-page.ts'

type Context = { request: Request; params: { token: string }; server: ServerPort | null; set: ResponseSet }

/** `/api/pauses/<token>`: what a run asks, and the answer. */
export function pauseAnswerRoutes(services: PauseServices, door: Door) {
  return new Elysia()
    .get(
      '/api/pauses/:token',
      async (context) => {
        const { asked, by } = await admit(services, door, context)
        assertOpen(asked)
        return askedFacts(asked, by)
      },
      route({
        name: 'getAsked',
        summary: 'Read what a run asks',
        description: 'What the page of a pause shows. The token is the last part of `url` and `callbackUrl`.',
        tag: 'Executions',
        access: 'everyone',
        responses: { 200: AskedFacts },
        errors: ['SIGN_IN_REQUIRED', 'FORBIDDEN', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED', ...ends],
      }),
    )
    .post(
      '/api/pauses/:token',
      async (context) => {
        const { asked, by } = await admit(services, door, context)
        assertOpen(asked)
        if (asked.pause.kind === 'call') {
          const call = await callOf(services, context, asked)
          const outcome = await services.answers.answer(asked, { approved: true, fields: {}, by: null, call })
          return { success: true, outcome } as const
        }
        const visitor = by === null ? visitorOf(context) : undefined
        const call = { request: context.request, fields: asked.content.fields, within: 'fields', visitor }
        const outcome = await receiveFormBody(services, call, ({ members: { approved }, values, upload }) =>
          giveAnswer(services, asked, { approved, values, upload, by: by?.email ?? null }),
        )
        return { success: true, outcome } as const
      },
      route({
        name: 'answerPause',
        summary: 'Answer a run',
        description:
          'Approves, rejects or, at a block that waits for a call, passes on any JSON. The first answer that ends the ' +
          'pause takes effect; a later one gets 409 with the outcome. An approval also takes a URL-encoded ' +
          'or multipart form with `approved` and `fields.<name>`. In JSON, a field for files takes file items.',
        tag: 'Executions',
        access: 'everyone',
        body: Answer,
        responses: { 200: Answered },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'SIGN_IN_REQUIRED', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const),
          ...(['INVALID_API_KEY', 'INVALID_SIGNATURE'] as const),
          ...(['PAYLOAD_TOO_LARGE', 'RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'] as const),
          ...ends,
        ],
      }),
    )
    .get(
      '/api/pauses/:token/next',
      async (context) => {
        const { asked } = await admit(services, door, context)
        return await pageAfter(services, asked.pause)
      },
      route({
        name: 'getNextPage',
        summary: 'Find the next page of a form',
        description:
          'The page that follows an answered approval, in the run of a form with `respond: next`. `state` is `asks` ' +
          'with the address of the page, `works` while blocks of the run work, `waits` when the run waits for something ' +
          'else, `ended`, or `unknown` in other runs.',
        tag: 'Executions',
        access: 'everyone',
        responses: { 200: NextFacts },
        errors: ['SIGN_IN_REQUIRED', 'FORBIDDEN', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED'],
      }),
    )
}

const NextFacts = t.Object({
  state: oneOf(['asks', 'works', 'waits', 'ended', 'unknown']),
  url: maybe(t.String()),
})

/** The account that answers; null for someone with the link. */
type Answerer = { email: string } | null

/** Finds the pause of a token, and who asks for it. Guesses are limited by address. */
async function admit(
  services: PauseServices,
  door: Door,
  { request, params, server, set }: Context,
): Promise<{ asked: AskedPause; by: Answerer }> {
  door.allowAnonymous(request, set)
  set.headers['cache-control'] = 'no-store'
  const contextId = services.readToken(params.token)
  if (contextId === undefined) {
    assertAllowed(services.limits.takeRefused(addressOf(request, server)), services.clock.now())
    throw new AppError('NOT_FOUND', 'This link is incomplete or wrong. Copy the whole link.')
  }
  const asked = await services.answers.find(contextId)
  if (!asked) throw new AppError('NOT_FOUND', 'The run of this link does not exist any more.')
  door.note(request, { workflowId: asked.pause.workflowId, executionId: asked.pause.executionId })
  const by = asked.content.access === 'link' ? null : await answererOf(services, door, { request, set }, asked)
  return { asked, by }
}

function assertOpen({ pause }: AskedPause): void {
  if (pause.state !== 'open') throw endedBefore(pause)
}

/** Throws SIGN_IN_REQUIRED without a session or key, and FORBIDDEN with the wrong one. */
async function answererOf(
  { store }: PauseServices,
  door: Door,
  { request, set }: Pick<Context, 'request' | 'set'>,
  { pause, content }: AskedPause,
): Promise<{ email: string }> {
  const caller = await callerOf(door, request, set)
  const email = (await store.findUser(caller.userId))?.email.toLowerCase() ?? ''
  assertMayAnswer({ role: roleOf(caller, pause.workspaceId), email }, content)
  return { email }
}

async function callerOf(door: Door, request: Request, set: ResponseSet): Promise<Caller> {
  try {
    return await door.requireKeyOrSession(request, set)
  } catch (error) {
    if (toAppError(error).code !== 'API_KEY_REQUIRED') throw error
    throw new AppError('SIGN_IN_REQUIRED', 'Sign in to answer this run, or send an API key.')
  }
}

/** The request at a block that waits for a call, when its sender is verified. */
async function callOf(
  services: PauseServices,
  { request, server }: Pick<Context, 'request' | 'server'>,
  { pause, content: { authentication = { type: 'none' } } }: AskedPause,
) {
  const body = services.settings.anonymousBody
  const sender = senderCheckOf(authentication)
  const refused = () => assertAllowed(services.limits.takeRefused(addressOf(request, server)), services.clock.now())
  try {
    const bytes = await readBytes(request, body)
    await assertSender(request, bytes, sender, { ...services, ...pause, refused })
    const data = bytes.byteLength === 0 ? {} : await parseJsonBody(request, textOf(bytes), body)
    return { data, headers: headersOf(request, sender.secretHeader), query: queryOf(request) }
  } finally {
    body.budget.release(request)
  }
}

/** Without credentials. */
function headersOf({ headers }: Request, secretHeader: string | undefined): Record<string, string> {
  const kept = Object.entries(Object.fromEntries(withoutSession(headers)))
  const isSecret = (name: string) => name === secretHeader || /^(x-api-key|authorization|cookie)$/.test(name)
  return Object.fromEntries(kept.filter(([name]) => !isSecret(name)))
}

function queryOf({ url }: Request): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams)
}
