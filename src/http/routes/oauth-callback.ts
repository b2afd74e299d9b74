import { Elysia } from 'elysia'
import type { AppError } from '../../domain/errors.ts'
import type { Door, ResponseSet } from '../access/door.ts'
import { searchParamsOf } from '../access/request-url.ts'
import { sessionMarkOf } from '../access/session-mark.ts'
import { statusOf, toAppError } from '../errors.ts'
import type { Services } from '../services.ts'

/**
 * `GET /api/oauth/callback`: where a provider sends a person back after a sign-in for a credential. The state in the
 * URL proves that the same browser started the sign-in here. The page is for people, so its errors are, too.
 */
export function oauthCallbackRoutes(services: Services, door: Door) {
  const { signIns, logger } = services
  return new Elysia().get(
    '/api/oauth/callback',
    async ({ request, set }) => {
      door.allowAnonymous(request, set)
      set.headers['cache-control'] = 'no-store'
      set.headers['referrer-policy'] = 'no-referrer'
      try {
        const session = await sessionMarkOf(services, request)
        const { workspaceId, name, returnTo } = await signIns.finish(searchParamsOf(request), session)
        logger.info('signed in with a credential', { workspaceId, credential: name })
        set.status = 303
        set.headers['location'] = withQuery(returnTo ?? `/w/${workspaceId}/settings/credentials`, 'signed-in', name)
        return ''
      } catch (error) {
        return failurePage(toAppError(error), set)
      }
    },
    { detail: { hide: true } },
  )
}

/** Whether a browser stays at this service when it follows the path. */
export function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])[^\p{Cc}\\]*$/u.test(path) && path.length <= 500
}

function withQuery(path: string, name: string, value: string): string {
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(path) ?? []
  return `${address}${address.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}${fragment}`
}

function failurePage(error: AppError, set: ResponseSet): string {
  set.status = statusOf(error.code)
  set.headers['content-type'] = 'text/html; charset=utf-8'
  set.headers['content-security-policy'] = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
  const message = error.code === 'INTERNAL' ? 'The service failed. Its log says why.' : error.message
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>The sign-in failed · Millrace</title>
<h1>The sign-in failed</h1>
<p>${Bun.escapeHTML(message)}</p>
<p><a href="/settings">Back to the settings</a></p>
`
}
