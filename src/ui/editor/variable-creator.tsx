import { createContext, lazy, type ReactNode, Suspense, useContext, useState } from 'react'
import { call } from '../api/call.ts'
import type { Document } from './document/document.ts'
import { useEditing } from './editing.tsx'
import type { Autosave } from './save/autosave.ts'

const VariableDialog = lazy(async () => ({
  default: (await import('../screens/settings/variable-dialog.tsx')).VariableDialog,
}))

/** A variable to create. `onCreated` receives the name that the user chose. */
export type VariableRequest = { name: string; value?: string; onCreated?: (name: string) => void }

const Context = createContext<(request: VariableRequest) => void>(() => undefined)

/** Opens the dialog for a new environment variable over the editor. */
export function useCreateVariable(): (request: VariableRequest) => void {
  return useContext(Context)
}

export function VariableCreator({ autosave, children }: { autosave: Autosave; children: ReactNode }) {
  const { workspaceId, workflowId, draft } = useEditing()
  const [request, setRequest] = useState<VariableRequest>()
  const onSaved = (name: string) => {
    request?.onCreated?.(name)
    // Problems with the variable are solved now, even if the document did not change.
    void checkDraft(autosave, workflowId, draft.state)
  }
  return (
    <Context value={setRequest}>
      {children}
      {request && (
        <Suspense>
          <VariableDialog
            workspaceId={workspaceId}
            name={request.name}
            value={request.value ?? ''}
            onSaved={onSaved}
            onClose={() => setRequest(undefined)}
          />
        </Suspense>
      )}
    </Context>
  )
}

/** Checks the draft without saving it. Ignores the result if the draft has changed meanwhile: its save is a check. */
export async function checkDraft(
  autosave: Autosave,
  workflowId: string,
  state: () => { document: Document },
): Promise<void> {
  const { document } = state()
  try {
    const check = await call('POST /api/editor/workflows/:id/check', { params: { id: workflowId }, body: document })
    if (state().document === document) autosave.setCheck(check)
  } catch {
    // The next save reports whether the service is reachable.
  }
}
