import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'
import { useToast } from '../../parts/toast.tsx'
import { useEditing } from '../editing.tsx'
import type { Autosave } from '../save/autosave.ts'

export type Tests = ResponseOf<'GET /api/workflows/:id/tests'>
export type Test = Tests['tests'][number]
export type TestResult = ResponseOf<'POST /api/workflows/:id/tests/run'>['results'][number]
/** The last results since the page was opened, by the name of the test. */
export type TestResults = Readonly<Record<string, TestResult>>

export function testsQuery(id: string) {
  return queryOptions({
    queryKey: ['tests', id],
    queryFn: ({ signal }) => call('GET /api/workflows/:id/tests', { params: { id }, signal }),
  })
}

/** The service does not store results, so the cache keeps them while the page is open. */
function resultsQuery(id: string) {
  return queryOptions({
    queryKey: ['test-results', id],
    queryFn: (): TestResults => ({}),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
}

/** The results of a workflow's tests, and the actions on them. */
export function useTestActions(autosave: Autosave) {
  const { workflowId: id } = useEditing()
  const queries = useQueryClient()
  const toast = useToast()
  const { data: results = {} } = useQuery(resultsQuery(id))
  const keep = (change: (before: TestResults) => TestResults) => {
    queries.setQueryData(resultsQuery(id).queryKey, (before: TestResults = {}) => change(before))
  }
  /** Runs the saved draft, so it is saved first. `names`: absent for all tests. */
  const run = useMutation({
    mutationFn: async ({ names, update }: { names?: string[]; update?: boolean }) => {
      if (!(await autosave.flush())) throw new Error('The workflow could not be saved, so no test ran.')
      return await call('POST /api/workflows/:id/tests/run', {
        params: { id },
        body: { ...(names && { names }), ...(update && { update }) },
      })
    },
    onSuccess: async (report, { names, update }) => {
      const fresh = Object.fromEntries(report.results.map((result) => [result.name, result]))
      keep((before) => (names ? { ...before, ...fresh } : fresh))
      if (update) await queries.invalidateQueries({ queryKey: testsQuery(id).queryKey })
    },
    onError: toast.fail,
  })
  /** Saves a changed list, unless somebody else has saved it since it was loaded. */
  const change = async (edit: (tests: readonly Test[]) => readonly Test[]) => {
    const before = await queries.ensureQueryData(testsQuery(id))
    try {
      await call('PUT /api/workflows/:id/tests', {
        params: { id },
        headers: { 'if-match': `"${before.revision}"` },
        body: { tests: [...edit(before.tests)] },
      })
    } finally {
      await queries.invalidateQueries({ queryKey: testsQuery(id).queryKey })
    }
  }
  const remove = (name: string) => change((tests) => tests.filter((test) => test.name !== name))
  const rename = async (name: string, next: string) => {
    await change((tests) => tests.map((test) => (test.name === name ? { ...test, name: next } : test)))
    keep(({ [name]: moved, ...others }) => (moved ? { ...others, [next]: { ...moved, name: next } } : others))
  }
  return { results, run, change, remove, rename }
}
