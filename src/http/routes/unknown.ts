import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { type Door, isExternal, pathOf } from '../access/door.ts'

/** A route of the service. `path` has `:name` for each parameter. */
export type KnownRoute = { method: string; path: string }

/**
 * Handles what no other route matches: 405 with `Allow` for a path with other methods, OPTIONS for existing paths, 404
 * for the rest. Under `/api/v1/` such requests count in the window like all others.
 */
export function unknownRoutes(door: Door, knownRoutes: () => readonly KnownRoute[]) {
  let table: Table | undefined
  return new Elysia().all(
    '/*',
    async ({ request, set, server }) => {
      door.allowAnonymous(request, set)
      const path = pathOf(request)
      table ??= compileTable(knownRoutes())
      const methods = methodsAt(table, path)
      if (methods.length > 0) set.headers['allow'] = methods.join(', ')
      if (request.method === 'OPTIONS' && methods.length > 0) {
        door.showAddressWindow(request, set, server)
        set.status = 204
        return
      }
      if (isExternal(path)) await door.requireApiKey(request, set, server)
      if (methods.length === 0) {
        throw new AppError('NOT_FOUND', `There is nothing at ${shown(path)}. GET /swagger shows what there is.`)
      }
      throw new AppError(
        'METHOD_NOT_ALLOWED',
        `${shown(path)} accepts ${methods.join(', ')}, but not ${shown(request.method)}.`,
      )
    },
    { parse: 'none', detail: { hide: true } },
  )
}

type Table = { pattern: RegExp; methods: Set<string> }[]

/** HEAD is allowed wherever GET is, OPTIONS everywhere. */
function compileTable(routes: readonly KnownRoute[]): Table {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of routes) {
    if (path.endsWith('*')) continue
    const known = methods.get(path) ?? new Set()
    for (const each of method === 'GET' ? ['GET', 'HEAD'] : [method]) known.add(each)
    methods.set(path, known.add('OPTIONS'))
  }
  return [...methods].map(([path, known]) => ({ pattern: patternOf(path), methods: known }))
}

function patternOf(path: string): RegExp {
  const steps = path.replace(/\/$/, '').split('/')
  const source = steps.map((step) => (step.startsWith(':') ? '[^/]+' : RegExp.escape(step))).join('/')
  return new RegExp(`^${source}/?$`)
}

function methodsAt(table: Table, path: string): string[] {
  const found = new Set<string>()
  for (const { pattern, methods } of table) {
    if (pattern.test(path)) for (const method of methods) found.add(method)
  }
  return [...found].sort()
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}
