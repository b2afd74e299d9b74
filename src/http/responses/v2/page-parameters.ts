import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { pageLimitMax } from '../../requests/list-page.ts'

/** The parameters of a page, for the OpenAPI document. */
export function limitAndCursor(limit: number) {
  return {
    limit: t.Optional(
      t.Integer({ minimum: 1, maximum: pageLimitMax, default: limit, description: 'The most items of a page.' }),
    ),
    cursor: t.Optional(
      t.String({
        description: 'The `nextCursor` of the previous page. Only `limit` may differ from the query of that page.',
      }),
    ),
  }
}

export function pageParameters<const Sorts extends readonly string[]>(
  sorts: Sorts,
  sortBy: Sorts[number],
  sortOrder: 'asc' | 'desc',
  limit: number,
) {
  return {
    sortBy: t.Optional(oneOf(sorts, { default: sortBy, description: 'The member by which the list is sorted.' })),
    sortOrder: t.Optional(oneOf(['asc', 'desc'], { default: sortOrder, description: 'The direction of the order.' })),
    ...limitAndCursor(limit),
  }
}

export const inWorkspace = { workspaceId: t.String({ description: 'The workspace.' }) }
