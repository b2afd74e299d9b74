import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { networkOf } from '../../domain/network.ts'
import { addressOf } from '../access/connection.ts'
import type { Door, ResponseSet } from '../access/door.ts'
import { assertAllowed } from '../access/rate-headers.ts'
import { searchParamsOf } from '../access/request-url.ts'
import { assertSameOrigin } from '../access/same-origin.ts'
import { cookieFor, isHttps, noCookie, tokenOf } from '../access/session-cookie.ts'
import { route } from '../openapi/route.ts'
import { readShape } from '../requests/body.ts'
import { withBytesMax } from '../requests/body-limits.ts'
import { Time } from '../responses/schema-parts.ts'
import type { OpenedSession, Services } from '../services.ts'

const Credentials = t.Object({
  email: t.String({ minLength: 1, maxLength: 254 }),
  password: t.String({ minLength: 1 }),
})
const LinkRequest = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }) })
const SessionResponse = t.Object({ userId: t.String(), expiresAt: Time }, { $id: 'Session' })

/** Larger than any e-mail address and password. */
const credentialBytesMax = 16_384

/** Signing in to the dashboard, and out. */
export function sessionRoutes(services: Services, door: Door) {
  const { sessions, signInLinks, settings } = services
  return new Elysia({ prefix: '/api/session' })
    .post(
      '',
      async ({ request, set, server }) => {
        door.allowAnonymous(request, set)
        assertSameOrigin(request, settings.baseUrl())
        const { email, password } = await readShape(
          request,
          Credentials,
          withBytesMax(settings.body, credentialBytesMax),
        )
        const address = addressOf(request, server)
        const session = await sessions.signIn({ email, password, address })
        giveCookie(services, session, request, set)
        services.logger.info('signed in', { userId: session.userId, by: 'password', address })
        return { userId: session.userId, expiresAt: new Date(session.expiresAt).toISOString() }
      },
      route({
        name: 'signIn',
        summary: 'Sign in to the dashboard',
        description:
          'Sets the session cookie. Attempts per minute are limited per account and address, per address, and per ' +
          'account. This is for pages of this service; programs use a key.',
        tag: 'Account',
        access: 'everyone',
        body: Credentials,
        responses: { 200: SessionResponse },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'INVALID_CREDENTIALS', 'FORBIDDEN'] as const),
          ...(['RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'] as const),
        ],
      }),
    )
    .get(
      '/link',
      ({ request, set }) => {
        door.allowAnonymous(request, set)
        return { available: signInLinks.areAvailable && !sessions.isOpen }
      },
      route({
        name: 'canSendSignInLink',
        summary: 'Whether the service sends sign-in links by e-mail',
        tag: 'Account',
        access: 'everyone',
        responses: { 200: t.Object({ available: t.Boolean() }) },
        errors: ['OVERLOADED'],
      }),
    )
    .post(
      '/link',
      async ({ request, set, server }) => {
        door.allowAnonymous(request, set)
        assertSameOrigin(request, settings.baseUrl())
        const { email } = await readShape(request, LinkRequest, withBytesMax(settings.body, credentialBytesMax))
        if (!signInLinks.areAvailable)
          throw new AppError('CONFLICT', 'This service sends no e-mails. Ask its operator.')
        const address = addressOf(request, server)
        assertAllowed(signInLinks.take(networkOf(address)), services.clock.now(), 'sign-in links', 'an hour')
        signInLinks.send(email)
        services.logger.info('sign-in link requested', { address })
        set.status = 202
        return {}
      },
      route({
        name: 'sendSignInLink',
        summary: 'Send a sign-in link by e-mail',
        description:
          'Sends a link that works once, within an hour, if there is an account with this e-mail. The response is the ' +
          'same if there is none. Needs a mail server (`MILLRACE_SMTP_URL`). An account gets three links an hour. This is for pages ' +
          'of this service.',
        tag: 'Account',
        access: 'everyone',
        body: LinkRequest,
        responses: { 202: t.Object({}) },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'CONFLICT'] as const),
          ...(['RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'] as const),
        ],
      }),
    )
    .delete(
      '',
      async ({ request, set }) => {
        door.allowAnonymous(request, set)
        assertSameOrigin(request, settings.baseUrl())
        const token = tokenOf(request.headers)
        if (token !== undefined) await sessions.end(token)
        set.headers['set-cookie'] = noCookie(isHttps(request, settings.baseUrl()))
        set.status = 204
      },
      route({
        name: 'signOut',
        summary: 'Sign out of the dashboard',
        tag: 'Account',
        access: 'everyone',
        responses: { 204: t.Void({ description: 'Signed out. Also sent when nobody was signed in.' }) },
        errors: ['FORBIDDEN', 'OVERLOADED', 'STORAGE_UNAVAILABLE'],
      }),
    )
}

/**
 * `/sign-in?token=…`, a link that works once: signs in and redirects to the dashboard. Prefetches are refused, so that
 * they do not use up the link. Without a token, `page` shows the sign-in form.
 */
export function signInLink(services: Services, door: Door, page: (request: Request, set: ResponseSet) => unknown) {
  const { sessions } = services
  return new Elysia().get(
    '/sign-in',
    async ({ request, set, server }) => {
      door.allowAnonymous(request, set)
      const link = searchParamsOf(request).get('token')
      if (link === null) return page(request, set)
      set.headers['referrer-policy'] = 'no-referrer'
      if (request.method === 'HEAD' || request.headers.has('sec-purpose')) {
        set.status = 204
        return undefined
      }
      set.status = 302
      set.headers['location'] = '/'
      const session = await sessions.redeem(link)
      if (session) {
        giveCookie(services, session, request, set)
        services.logger.info('signed in', { userId: session.userId, by: 'link', address: addressOf(request, server) })
        return undefined
      }
      // The visitor who used the link opens it again, and is signed in already.
      const token = tokenOf(request.headers)
      if (token === undefined || !(await sessions.find(token))) set.headers['location'] = '/sign-in?link=used'
      return undefined
    },
    { detail: { hide: true } },
  )
}

function giveCookie(
  { settings, clock }: Services,
  { token, expiresAt }: OpenedSession,
  request: Request,
  set: ResponseSet,
): void {
  const maxAgeS = Math.ceil((expiresAt - clock.now()) / 1000)
  set.headers['set-cookie'] = cookieFor(token, maxAgeS, isHttps(request, settings.baseUrl()))
  set.headers['cache-control'] = 'no-store'
}
