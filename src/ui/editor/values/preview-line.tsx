import { useQuery } from '@tanstack/react-query'
import type { Preview } from '../../../language/preview.ts'
import { classes } from '../../parts/class-names.ts'
import { useRunData } from './use-run-values.ts'

export type PreviewMode = 'template' | 'json' | 'expression'

/**
 * The result of a field with the values of the shown run, below the field. It is evaluated in the browser, with limited
 * work, and sends nothing.
 */
export function PreviewLine({ value, mode }: { value: unknown; mode: PreviewMode }) {
  if (!mayHaveReference(value)) return null
  return <Evaluated value={value} mode={mode} />
}

function Evaluated({ value, mode }: { value: unknown; mode: PreviewMode }) {
  const { lookup, run } = useRunData()
  // Loaded on demand: the evaluator has the JavaScript parser.
  const { data: language } = useQuery({
    queryKey: ['preview-language'],
    queryFn: () => import('../../../language/preview.ts'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!language || !run) return null
  const preview =
    mode === 'expression'
      ? language.previewExpression(String(value), lookup, workMax)
      : mode === 'json' && typeof value === 'string'
        ? language.previewJson(value, lookup)
        : language.previewTemplate(value, lookup)
  // The editor reports what is not JSON.
  if (mode === 'json' && preview.kind === 'failed') return null
  const { text, isValue } = shownPreview(preview)
  return (
    <output
      aria-label="Result with the values of the run"
      title={text}
      className={classes('line-clamp-2 text-2xs break-all text-muted', isValue && 'font-mono')}
    >
      <span aria-hidden="true">= </span>
      {text}
    </output>
  )
}

/** About 10 ms. */
const workMax = 500_000

function shownPreview(preview: Preview): { text: string; isValue: boolean } {
  switch (preview.kind) {
    case 'value':
      return { text: shortText(preview.value), isValue: true }
    case 'missing':
      return { text: `No value yet: ${preview.sources.join(', ')}`, isValue: false }
    case 'hidden':
      return { text: `The result depends on a hidden value: ${preview.sources.join(', ')}`, isValue: false }
    case 'failed':
      return { text: preview.message, isValue: false }
    case 'unknown':
      return { text: 'Run the block to see the result.', isValue: false }
  }
}

function shortText(value: unknown): string {
  const text = value === undefined ? 'undefined' : JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 399)}…` : text
}

/** Cheap, because it is called for every field on every key. */
function mayHaveReference(value: unknown): boolean {
  if (typeof value === 'string') return /<[^\s<>]|\{\{/.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(mayHaveReference)
}
