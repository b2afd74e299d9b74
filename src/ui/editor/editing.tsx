import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo, useSyncExternalStore } from 'react'
import { call, type ResponseOf } from '../api/call.ts'
import type { Portions } from './canvas/view/portions.ts'
import { blockTypesQuery } from './editor-queries.ts'
import type { HeldProblems } from './held-problems.ts'
import type { RunFocus } from './run/run-focus.ts'
import type { RunWatch } from './run/run-watch.ts'
import type { Draft, DraftState } from './save/draft.ts'

export type BlockType = ResponseOf<'GET /api/editor/blocks'>['data'][number]

/** Shared state of the editor's components. */
export type Editing = {
  workflowId: string
  workspaceId: string
  draft: Draft
  run: RunWatch
  focus: RunFocus
  held: HeldProblems
  portions: Portions
  types: ReadonlyMap<string, BlockType>
  /** True for viewers and for past versions: nothing can be changed. */
  readOnly: boolean
}

const Context = createContext<Editing | undefined>(undefined)

export function EditingProvider({ value, children }: { value: Editing; children: ReactNode }) {
  return <Context value={value}>{children}</Context>
}

export function useEditing(): Editing {
  const editing = useContext(Context)
  if (!editing) throw new Error('useEditing must be used inside EditingProvider')
  return editing
}

/** Part of the draft's state. The caller rerenders when that part changes. */
export function useDraft<Part>(pick: (state: DraftState) => Part): Part {
  const { draft } = useEditing()
  return useSyncExternalStore(draft.watch, () => pick(draft.state()))
}

/** Block types by their type name. */
export function useBlockTypes(): ReadonlyMap<string, BlockType> | undefined {
  const { data } = useQuery(blockTypesQuery)
  return useMemo(() => data && new Map(data.data.map((type) => [type.type, type])), [data])
}

/** Names of the workspace's workflows, by id. */
export function useWorkflowNames(): ReadonlyMap<string, string> {
  const { workspaceId } = useEditing()
  const { data } = useQuery({
    queryKey: ['workflow-names', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workflows', { query: { workspaceId }, signal }),
  })
  return useMemo(() => new Map(data?.data.map(({ id, name }) => [id, name])), [data])
}
