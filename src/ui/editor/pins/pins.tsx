import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, lazy, type ReactNode, Suspense, useContext, useMemo, useState } from 'react'
import { call } from '../../api/call.ts'
import { useToast } from '../../parts/toast.tsx'
import { pinsQuery } from '../editor-queries.ts'
import type { Autosave } from '../save/autosave.ts'

const PinDialog = lazy(async () => ({ default: (await import('./pin-dialog.tsx')).PinDialog }))

type Output = Readonly<Record<string, unknown>>

/** The pinned outputs of the draft, and the actions on them. */
export type Pins = {
  outputs: ReadonlyMap<string, Output>
  /** Pins an output as it is. An output that is refused opens in the dialog, with the reason. */
  pin(blockId: string, output: Output): Promise<void>
  unpin(blockId: string): Promise<void>
  /** Opens the dialog. `output`: the text to start with. */
  edit(blockId: string, output: Output): void
}

const none: Pins = { outputs: new Map(), pin: async () => {}, unpin: async () => {}, edit: () => {} }
const Context = createContext<Pins>(none)

/** Empty on canvases that show something other than the draft. */
export function usePins(): Pins {
  return useContext(Context)
}

export function usePin(blockId: string): Output | undefined {
  return useContext(Context).outputs.get(blockId)
}

export function PinsProvider({
  workflowId,
  autosave,
  children,
}: {
  workflowId: string
  autosave: Autosave
  children: ReactNode
}) {
  const queries = useQueryClient()
  const toast = useToast()
  const { data } = useQuery(pinsQuery(workflowId))
  const [editing, setEditing] = useState<{ blockId: string; output: Output; error?: unknown }>()
  const pins = useMemo((): Pins => {
    const refresh = () => queries.invalidateQueries({ queryKey: pinsQuery(workflowId).queryKey })
    const outputs = new Map(data?.data.map(({ blockId, output }) => [blockId, output as Output]))
    return {
      outputs,
      pin: async (blockId, output) => {
        try {
          await savePin(workflowId, autosave, blockId, output)
          await refresh()
          toast.show({ text: 'Pinned. Runs of the draft use this output; deployed versions do not.' })
        } catch (error) {
          setEditing({ blockId, output, error })
        }
      },
      unpin: async (blockId) => {
        await call('DELETE /api/workflows/:id/pins/:blockId', { params: { id: workflowId, blockId } }).catch(toast.fail)
        await refresh()
      },
      edit: (blockId, output) => setEditing({ blockId, output }),
    }
  }, [data, workflowId, autosave, queries, toast])
  return (
    <Context value={pins}>
      {children}
      {editing && (
        <Suspense>
          <PinDialog
            {...editing}
            onSave={async (output) => {
              await savePin(workflowId, autosave, editing.blockId, output)
              await queries.invalidateQueries({ queryKey: pinsQuery(workflowId).queryKey })
            }}
            onClose={() => setEditing(undefined)}
          />
        </Suspense>
      )}
    </Context>
  )
}

/** The service must have the draft first: a new block has no pin. */
async function savePin(id: string, autosave: Autosave, blockId: string, output: Output): Promise<void> {
  if (!(await autosave.flush())) throw new Error('The workflow could not be saved, so nothing was pinned.')
  await call('PUT /api/workflows/:id/pins/:blockId', { params: { id, blockId }, body: { output } })
}
