import { useMutation, useQueryClient } from '@tanstack/react-query'
import { FlaskConical } from 'lucide-react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { useToast } from '../../parts/toast.tsx'

/** Makes a test from a run that has ended, and adds it to the tests of the workflow. */
export function useMakeTest(workflowId: string, onShow?: () => void) {
  const queries = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: (executionId: string) =>
      call('POST /api/workflows/:id/tests/from-run', { params: { id: workflowId }, body: { executionId } }),
    onSuccess: async ({ name }) => {
      await queries.invalidateQueries({ queryKey: ['tests', workflowId] })
      const action = onShow && { label: 'Show tests', run: onShow }
      toast.show({ text: `The test “${name}” was made.`, ...(action && { action }) })
    },
    onError: toast.fail,
  })
}

export function MakeTest({
  workflowId,
  executionId,
  onShow,
}: {
  workflowId: string
  executionId: string
  onShow: () => void
}) {
  const make = useMakeTest(workflowId, onShow)
  return (
    <Button
      size="small"
      icon={<FlaskConical size={14} aria-hidden="true" />}
      busy={make.isPending}
      onClick={() => make.mutate(executionId)}
    >
      <span className="max-md:sr-only">Make a test</span>
    </Button>
  )
}
