import { Check, CircleAlert } from 'lucide-react'
import { costText, countText } from '../../parts/amount-text.ts'
import { Spinner } from '../../parts/spinner.tsx'
import type { Part, Turn } from './conversation.ts'
import { ProposalView } from './proposal-view.tsx'

/** A question and its reply. */
export function TurnView({ turn, at }: { turn: Turn; at: number }) {
  const { question, parts, phase, failure, cost, proposal } = turn
  return (
    <li className="flex flex-col gap-2">
      <p className="self-end rounded-lg bg-accent-soft px-3 py-2 text-sm break-words whitespace-pre-wrap text-accent-text max-w-[90%]">
        <span className="sr-only">You: </span>
        {question.shown ?? question.text}
      </p>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended
        <PartView key={index} part={part} />
      ))}
      {phase === 'working' && parts.at(-1)?.kind !== 'text' && (
        <p className="flex items-center gap-1.5 text-xs text-muted">
          <Spinner size={12} /> Working…
        </p>
      )}
      {failure !== undefined && (
        <p role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm break-words text-error-text">
          {failure}
        </p>
      )}
      {phase === 'stopped' && failure === undefined && <p className="text-xs text-muted">Stopped.</p>}
      {proposal && phase !== 'working' && <ProposalView proposal={proposal} at={at} />}
      {cost && (
        <p className="text-2xs text-muted">
          {countText(cost.tokens)} tokens, {cost.usd === null ? 'cost unknown' : costText(cost.usd)}
        </p>
      )}
    </li>
  )
}

function PartView({ part }: { part: Part }) {
  if (part.kind === 'text') return <p className="text-sm break-words whitespace-pre-wrap">{part.text.trim()}</p>
  const { name, subject, status, message } = part
  return (
    <p className="flex items-start gap-1.5 text-xs text-muted" title={message ?? undefined}>
      <span className="mt-0.5 shrink-0">
        {status === 'started' && <Spinner size={12} />}
        {status === 'succeeded' && <Check size={12} className="text-ok" aria-hidden="true" />}
        {status === 'failed' && <CircleAlert size={12} className="text-warn" aria-hidden="true" />}
      </span>
      <span className="min-w-0 break-words">
        {labels[name] ?? name}
        {subject !== '' && `: ${subject}`}
        {status === 'failed' && ' (refused; the assistant tries again)'}
      </span>
    </p>
  )
}

const labels: Readonly<Record<string, string | undefined>> = {
  list_workflows: 'Lists workflows',
  get_workflow: 'Reads a workflow',
  edit_workflow: 'Edits the draft',
  check_workflow: 'Checks the workflow',
  list_credentials: 'Lists credentials',
  list_blocks: 'Lists block types',
  describe_block: 'Reads about a block type',
  list_connectors: 'Looks for services',
  describe_operation: 'Reads about an operation',
  list_runs: 'Lists runs',
  list_failed: 'Lists failed runs',
  get_run: 'Reads a run',
}
