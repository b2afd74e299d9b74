import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { useRoute } from 'wouter'
import { useMe, type Workspace } from '../api/session.ts'
import { remember, remembered } from './browser-memory.ts'

const storageKey = 'millrace.workspace'

type Chosen = { workspace: Workspace; choose: (id: string) => void }

const Context = createContext<Chosen | undefined>(undefined)

/**
 * The current workspace: the one in the URL (`/w/<id>/…`), otherwise the latest one in this browser, otherwise one that
 * is shared with the user, otherwise the user's own. So a new member lands where the others work.
 */
export function WorkspaceProvider({ children }: { children: ReactNode }) {
  const { workspaces } = useMe()
  const [, addressed] = useRoute<{ workspaceId: string }>('/w/:workspaceId/*?')
  const [chosen, setChosen] = useState(() => remembered(storageKey))
  const choose = useCallback((id: string) => {
    setChosen(id)
    remember(storageKey, id)
  }, [])
  const named = addressed?.workspaceId
  const workspace =
    workspaces.find(({ id }) => id === named) ??
    workspaces.find(({ id }) => id === chosen) ??
    workspaces.find(({ role }) => role !== 'owner') ??
    workspaces[0]
  const id = workspace?.id
  useEffect(() => {
    if (id) choose(id)
  }, [id, choose])
  const value = useMemo(() => workspace && { workspace, choose }, [workspace, choose])
  if (!value)
    return (
      <p className="p-8 text-sm text-muted">This account belongs to no workspace. Ask a workspace owner to add it.</p>
    )
  return <Context value={value}>{children}</Context>
}

/** The current workspace. */
export function useWorkspace(): Workspace {
  return useChosen().workspace
}

/**
 * Switches to the workspace of the item that a screen's URL names, once its ID is known. Returns that workspace, until
 * then the current one.
 */
export function useWorkspaceOf(id: string | undefined): Workspace {
  const { workspaces } = useMe()
  const { workspace: current, choose } = useChosen()
  const own = workspaces.find((workspace) => workspace.id === id)
  const ownId = own?.id
  useEffect(() => {
    if (ownId) choose(ownId)
  }, [ownId, choose])
  return own ?? current
}

/** Switches the workspace. */
export function useChooseWorkspace(): Chosen['choose'] {
  return useChosen().choose
}

/** Whether the account may change things in the current workspace. */
export function useMayWrite(): boolean {
  return useWorkspace().role !== 'viewer'
}

function useChosen(): Chosen {
  const chosen = useContext(Context)
  if (!chosen) throw new Error('useWorkspace must be used inside WorkspaceProvider')
  return chosen
}
