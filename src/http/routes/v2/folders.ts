import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { folderProblem, movedFolder } from '../../../domain/workflow/folders.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { readShape } from '../../requests/body.ts'
import { folderAt, folderPathRule } from '../../requests/folder-path.ts'
import { Parameters } from '../../requests/parameters.ts'
import { folderIn } from '../../requests/workflow-facts.ts'
import { dataOf, pageOf } from '../../responses/v2/envelope.ts'
import {
  type Folder,
  FolderMoveV2,
  FolderV2,
  folderTree,
  folderV2,
  nameOf,
  parentOf,
} from '../../responses/v2/folder-schemas.ts'
import { inWorkspace } from '../../responses/v2/page-parameters.ts'
import type { Services } from '../../services.ts'

const sorts = ['name', 'createdAt', 'updatedAt'] as const
const searchCharsMax = 200

/** Folders of workflows in Sim's shapes: `/api/v2/workflows/folders`. */
export function folderRoutesV2({ store, clock, settings }: Services, door: Door) {
  return new Elysia({ prefix: '/api/v2/workflows/folders' })
    .get(
      '',
      async (context) => {
        const key = await enterV2(door, context)
        const { workspaceId, parent, part, sortBy, sortOrder } = readFolderRequest(context.request.url)
        assertMay(key, workspaceId, 'read', 'workspace')
        const all = [...folderTree(await store.listFolders(workspaceId)).values()]
        const found = all.filter(
          ({ path }) =>
            (parent === undefined || parentOf(path) === parent) &&
            (part === undefined || nameOf(path).toLowerCase().includes(part.toLowerCase())),
        )
        const keyOf = (folder: Folder) => (sortBy === 'name' ? nameOf(folder.path) : folder[sortBy])
        const sign = sortOrder === 'asc' ? 1 : -1
        const sorted = found.sort((a, b) => sign * (compare(keyOf(a), keyOf(b)) || compare(a.path, b.path)))
        return { data: sorted.map(folderV2), nextCursor: null }
      },
      routeV2({
        name: 'listFoldersV2',
        summary: 'List the folders of workflows',
        description: 'A folder exists while a workflow is in it or below it. The list has no pages.',
        query: t.Object({
          ...inWorkspace,
          parentPath: t.Optional(
            t.String({ description: 'Only folders directly in this folder; `/` for the top level.' }),
          ),
          search: t.Optional(t.String({ maxLength: searchCharsMax, description: 'A part of the name.' })),
          sortBy: t.Optional(oneOf(sorts, { default: 'name', description: 'The member by which the list is sorted.' })),
          sortOrder: t.Optional(oneOf(['asc', 'desc'], { default: 'asc', description: 'The direction of the order.' })),
        }),
        responses: { 200: pageOf(FolderV2) },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )
    .patch(
      '',
      async (context) => {
        const key = await enterV2(door, context)
        const { workspaceId, ...paths } = await readShape(context.request, FolderMoveV2, settings.body)
        assertMay(key, workspaceId, 'write', 'workspace')
        const from = folderIn(paths.path, 'path')
        const destination = folderIn(paths.destinationPath, 'destinationPath')
        const folders = folderTree(await store.listFolders(workspaceId))
        if (from === null || !folders.has(from)) throw new AppError('NOT_FOUND', 'There is no folder at this path.')
        const to = targetOf(from, destination, folders)
        if (to !== from) await store.moveFolder(workspaceId, from, to, clock.now(), key.userId)
        const moved = folderTree(await store.listFolders(workspaceId)).get(to)
        if (moved) return { data: folderV2(moved) }
        throw new AppError('NOT_FOUND', 'There is no folder at this path.')
      },
      routeV2({
        name: 'moveFolderV2',
        summary: 'Rename or move a folder of workflows',
        description: 'Moves its workflows and its subfolders.',
        body: FolderMoveV2,
        responses: { 200: dataOf(FolderV2) },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
}

function readFolderRequest(url: string) {
  const parameters = new Parameters(url)
  const workspaceId = parameters.required('workspaceId', 'must be given')
  const path = parameters.text('parentPath')
  const parent = path === undefined ? undefined : folderAt(path)
  if (path !== undefined && parent === undefined) parameters.missing('parentPath', `must be ${folderPathRule}`)
  const part = parameters.shortText('search', searchCharsMax)
  const sortBy = parameters.oneOf('sortBy', sorts) ?? 'name'
  const sortOrder = parameters.oneOf('sortOrder', ['asc', 'desc']) ?? 'asc'
  parameters.assertValid()
  return { workspaceId, parent, part, sortBy, sortOrder }
}

/** Where a folder goes. Throws when it cannot be there. */
function targetOf(from: string, destination: string | null, folders: ReadonlyMap<string, Folder>): string {
  if (destination === from) return from
  const inside = destination === null ? nameOf(from) : `${destination}/${nameOf(from)}`
  const to = destination === null || folders.has(destination) ? inside : destination
  if (to === from) return from
  if (`${to}/`.startsWith(`${from}/`)) throw new AppError('INVALID_INPUT', 'A folder cannot be moved into itself.')
  if (folders.has(to)) throw new AppError('CONFLICT', 'A folder of this name already exists. Choose another name.')
  const problem = [...folders.keys()]
    .filter((path) => `${path}/`.startsWith(`${from}/`))
    .map((path) => folderProblem(movedFolder(path, from, to)))
    .find((message) => message !== undefined)
  if (problem !== undefined) throw new AppError('INVALID_INPUT', problem)
  return to
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
