import { LayoutGrid, Sparkles } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { Link } from 'wouter'
import { classes } from '../../../parts/class-names.ts'
import { useAssistant } from '../../assistant/assistant-context.tsx'
import { type Document, isTrigger } from '../../document/document.ts'
import { type BlockType, useDraft, useEditing } from '../../editing.tsx'
import { BlockIcon } from '../block-icon.tsx'
import { useQuestionTop } from './question-top.ts'

type Question = 'start' | 'next'

/**
 * Asks on a new canvas what starts the workflow, and then what happens next. Only the choices take the pointer, so that
 * blocks can be dropped beside them.
 */
export function FirstQuestions({
  onStart,
  onNext,
  onAll,
}: {
  onStart: (type: BlockType) => void
  onNext: (type: BlockType) => void
  /** Opens the list of all blocks. */
  onAll: () => void
}) {
  const { readOnly, types, workspaceId } = useEditing()
  const assistant = useAssistant()
  const question = useDraft(({ document }) => questionOf(document))
  if (question === undefined) return null
  if (readOnly) {
    return question === 'start' ? (
      <Layer>
        <p className="text-base font-semibold">No blocks yet</p>
      </Layer>
    ) : null
  }
  if (question === 'start') {
    return (
      <Layer>
        <section
          aria-label="What starts it?"
          data-first-question
          className="popup pointer-events-auto w-full max-w-136 p-4"
        >
          <h2 className="text-base font-semibold">What starts it?</h2>
          <ul className="mt-3 grid gap-2 sm:grid-cols-2">
            {starts.map(({ type, label, note }) => {
              const found = types.get(type)
              return (
                found && (
                  <li key={type}>
                    <Choice type={type} label={label} note={note} onPick={() => onStart(found)} />
                  </li>
                )
              )
            })}
            <li>
              <Link href={`/w/${workspaceId}/gallery`} className={classes(choiceLook, 'text-text no-underline')}>
                <span className="flex size-8 shrink-0 items-center justify-center rounded-md bg-hover text-muted">
                  <LayoutGrid size={17} aria-hidden="true" />
                </span>
                <ChoiceText label="Start from the gallery" note="Choose one of the ready workflows." />
              </Link>
            </li>
            {assistant && (
              <li>
                <button type="button" onClick={() => assistant.open()} className={choiceLook}>
                  <span className="flex size-8 shrink-0 items-center justify-center rounded-md bg-hover text-muted">
                    <Sparkles size={17} aria-hidden="true" />
                  </span>
                  <ChoiceText label="Describe it" note="The assistant makes a draft from your words." />
                </button>
              </li>
            )}
          </ul>
        </section>
      </Layer>
    )
  }
  return <NextQuestion onNext={onNext} onAll={onAll} />
}

function NextQuestion({ onNext, onAll }: { onNext: (type: BlockType) => void; onAll: () => void }) {
  const { types } = useEditing()
  const box = useRef<HTMLElement>(null)
  const top = useQuestionTop(box)
  return (
    <Layer top={top}>
      <section ref={box} aria-label="What happens next?" className="popup pointer-events-auto w-full max-w-120 p-3">
        <h2 className="text-sm font-semibold">What happens next?</h2>
        <ul className="mt-2 grid grid-cols-2 gap-1.5 sm:grid-cols-3">
          {nexts.map((type) => {
            const found = types.get(type)
            return (
              found && (
                <li key={type}>
                  <button
                    type="button"
                    title={found.description}
                    onClick={() => onNext(found)}
                    className={classes(choiceLook, 'min-h-9 items-center p-1.5')}
                  >
                    <BlockIcon type={type} size="small" />
                    <span className="truncate text-sm">{found.label}</span>
                  </button>
                </li>
              )
            )
          })}
        </ul>
        <button
          type="button"
          onClick={onAll}
          className="mt-1.5 flex h-8 w-full cursor-default items-center justify-center gap-2 rounded-md text-sm text-muted hover:bg-hover hover:text-text"
        >
          All blocks <kbd className="rounded border border-line px-1.5 font-mono text-2xs">/</kbd>
        </button>
      </section>
    </Layer>
  )
}

function questionOf({ blocks, notes }: Document): Question | undefined {
  const all = Object.values(blocks)
  if (all.length === 0) return Object.keys(notes ?? {}).length === 0 ? 'start' : undefined
  return all.every(isTrigger) ? 'next' : undefined
}

/** Covers the canvas without taking its pointer. `top`: the distance from its upper edge, instead of the middle. */
function Layer({ top, children }: { top?: number; children: ReactNode }) {
  return (
    <div
      style={{ top }}
      className={classes(
        'pointer-events-none absolute inset-x-0 z-10 flex flex-col items-center px-3 text-center',
        top === undefined && 'inset-y-0 justify-center max-sm:pl-16',
      )}
    >
      {children}
    </div>
  )
}

function Choice({ type, label, note, onPick }: { type: string; label: string; note: string; onPick: () => void }) {
  return (
    <button type="button" onClick={onPick} className={choiceLook}>
      <BlockIcon type={type} />
      <ChoiceText label={label} note={note} />
    </button>
  )
}

function ChoiceText({ label, note }: { label: string; note: string }) {
  return (
    <span className="min-w-0">
      <span className="block text-sm font-medium">{label}</span>
      <span className="block text-xs text-muted">{note}</span>
    </span>
  )
}

const choiceLook =
  'flex h-full w-full cursor-default items-start gap-2.5 rounded-lg border border-line bg-surface p-2.5 text-left hover:border-line-strong hover:bg-hover'

const starts: readonly { type: string; label: string; note: string }[] = [
  { type: 'api_trigger', label: 'API call', note: 'Your code calls an endpoint with an API key.' },
  { type: 'schedule', label: 'Schedule', note: 'It runs at set times, such as weekdays at 9:00.' },
  { type: 'poll_trigger', label: 'Poll', note: 'A list of another service has a new item.' },
  { type: 'rss_trigger', label: 'RSS feed', note: 'A feed has a new entry.' },
  { type: 'webhook_trigger', label: 'Webhook trigger', note: 'Another service, such as GitHub, sends a request.' },
  { type: 'chat_trigger', label: 'Chat', note: 'A person writes a message on a chat page.' },
  { type: 'form_trigger', label: 'Form', note: 'A person fills in a form on its page.' },
  { type: 'event_trigger', label: 'Event', note: 'Something happens in the workspace, such as a failed run.' },
  { type: 'manual_trigger', label: 'Manual run', note: 'You press Run in this editor.' },
]

/** The blocks that most often follow a trigger. */
const nexts = ['api', 'function', 'agent', 'condition', 'loop', 'response']
