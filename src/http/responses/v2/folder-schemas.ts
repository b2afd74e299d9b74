import { type Static, Type as t } from '@sinclair/typebox'
import type { FolderRow } from '../../../store/dashboard-store.ts'
import { folderPathOf } from '../../requests/folder-path.ts'
import { isoTime, Time } from '../schema-parts.ts'

export const FolderV2 = t.Object(
  {
    name: t.String({ description: 'The last step of its path, not encoded.' }),
    path: t.String(),
    parentPath: t.String(),
    createdAt: t.String({ format: 'date-time', description: 'The time when its oldest workflow was created.' }),
    updatedAt: Time,
    locked: t.Literal(false),
  },
  { $id: 'FolderV2' },
)
export const FolderMoveV2 = t.Object(
  {
    workspaceId: t.String(),
    path: t.String({ maxLength: 4096 }),
    destinationPath: t.String({
      maxLength: 4096,
      description: 'An existing folder, or `/`, to move the folder into it; any other path becomes the new path.',
    }),
  },
  { $id: 'FolderMoveV2', additionalProperties: false },
)

export type Folder = { path: string; createdAt: number; updatedAt: number }

/** The folders of these rows and their parents, with the times of everything below them. */
export function folderTree(rows: readonly FolderRow[]): Map<string, Folder> {
  const folders = new Map<string, Folder>()
  for (const { path: own, createdAt, updatedAt } of rows) {
    for (let path: string | null = own; path !== null; path = parentOf(path)) {
      const known = folders.get(path)
      folders.set(path, {
        path,
        createdAt: Math.min(createdAt, known?.createdAt ?? createdAt),
        updatedAt: Math.max(updatedAt, known?.updatedAt ?? updatedAt),
      })
    }
  }
  return folders
}

export function parentOf(path: string): string | null {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : null
}

export const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

export function folderV2({ path, createdAt, updatedAt }: Folder): Static<typeof FolderV2> {
  const paths = { path: folderPathOf(path), parentPath: folderPathOf(parentOf(path)) }
  return { name: nameOf(path), ...paths, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt), locked: false }
}
