import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { pageLimitMax } from '../../requests/list-page.ts'

/** The parameters of a page, for the OpenAPI document. */
export function limitAndCursor(limit: number) {
  return {
    limit: t.Optional(
      t.Integer({ minimum: 1, maximum: pageLimitMax, default: limit, description: 'The most items on a page.' }),
    ),
    cursor: t.Optional(
      t.String({ description: '`nextCursor` of the previous page. Only `limit` may differ from its query.' }),
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
    sortBy: t.Optional(oneOf(sorts, { default: sortBy, description: 'What the list is sorted by.' })),
    sortOrder: t.Optional(oneOf(['asc', 'desc'], { default: sortOrder, description: 'The direction.' })),
    ...limitAndCursor(limit),
  }
}

export const inWorkspace = { workspaceId: t.String({ description: 'The workspace.' }) }
