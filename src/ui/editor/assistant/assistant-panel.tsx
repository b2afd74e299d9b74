import { ArrowUp, MessageSquarePlus, Square, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Button, IconButton } from '../../parts/button.tsx'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { TextArea } from '../../parts/field.tsx'
import { useDraft } from '../editing.tsx'
import type { Assistant } from './assistant-context.tsx'
import type { Turn } from './conversation.ts'
import { TurnView } from './turn-view.tsx'

/** The panel of the assistant, beside the canvas. Calls `onApplied` after the draft has a proposal. */
export function AssistantPanel({ assistant, onApplied }: { assistant: Assistant; onApplied: () => void }) {
  const { conversation, model, setOpen } = assistant
  const turns = useSyncExternalStore(conversation.watch, conversation.turns)
  const isEmpty = useDraft(({ document }) => Object.keys(document.blocks).length === 0)
  const box = useRef<HTMLTextAreaElement>(null)
  const before = useRef<Element | null>(null)
  useLayoutEffect(() => {
    before.current = document.activeElement
    box.current?.focus()
  }, [])
  const applied = appliedIn(turns)
  const known = useRef(applied)
  useEffect(() => {
    if (applied > known.current) onApplied()
    known.current = applied
  }, [applied, onApplied])
  const settled = turns.filter(({ proposal }) => proposal && proposal.outcome !== 'open').length
  // When a proposal is settled, its buttons disappear, and the focus would be lost.
  // biome-ignore lint/correctness/useExhaustiveDependencies: looks whenever a proposal was settled
  useEffect(() => {
    if (document.activeElement === document.body) box.current?.focus()
  }, [settled])
  const close = () => {
    setOpen(false)
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus()
  }
  return (
    <aside
      aria-label="Assistant"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault()
        close()
      }}
      className="flex w-90 shrink-0 flex-col border-l border-line bg-surface max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-40 max-lg:max-w-full max-lg:shadow-popup max-md:w-full"
    >
      <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-4">
        <h2 className="text-sm font-semibold">Assistant</h2>
        <span className="min-w-0 flex-1 truncate text-xs text-muted" title={model}>
          {model}
        </span>
        {turns.length > 0 && (
          <IconButton
            label="New conversation"
            icon={<MessageSquarePlus size={15} />}
            size="small"
            onClick={() => {
              conversation.clear()
              box.current?.focus()
            }}
          />
        )}
        <IconButton label="Close the assistant" keys="Esc" icon={<X size={15} />} size="small" onClick={close} />
      </header>
      <Turns turns={turns} isEmpty={isEmpty} />
      <Asking ref={box} assistant={assistant} isWorking={turns.at(-1)?.phase === 'working'} isEmpty={isEmpty} />
    </aside>
  )
}

function appliedIn(turns: readonly Turn[]): number {
  return turns.filter(({ proposal }) => proposal?.outcome === 'applied').length
}

/** The conversation. It scrolls to its end while text arrives, unless the reader has scrolled up. */
function Turns({ turns, isEmpty }: { turns: readonly Turn[]; isEmpty: boolean }) {
  const list = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls as the conversation grows
  useEffect(() => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [turns])
  return (
    <div
      ref={list}
      role="log"
      aria-label="Conversation"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 40
      }}
      className="min-h-0 flex-1 overflow-y-auto px-4 py-3"
    >
      {turns.length === 0 ? (
        <div className="flex flex-col gap-2 text-sm text-muted">
          <p>
            {isEmpty
              ? 'Describe what the workflow should do. The assistant makes a draft that you can check, run and undo.'
              : 'Ask about this workflow, or describe a change. You see each change before it is applied.'}
          </p>
          <p className="text-xs">
            Your questions, this draft and what the assistant reads go to the model that the operator chose. Secrets do
            not.
          </p>
          <DocsLink to={docs.assistant} />
        </div>
      ) : (
        <ol className="flex flex-col gap-5">
          {turns.map((turn, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: turns are only appended
            <TurnView key={at} turn={turn} at={at} />
          ))}
        </ol>
      )}
    </div>
  )
}

function Asking({
  assistant: { conversation },
  isWorking,
  isEmpty,
  ref,
}: {
  assistant: Assistant
  isWorking: boolean
  isEmpty: boolean
  ref: React.RefObject<HTMLTextAreaElement | null>
}) {
  const [text, setText] = useState('')
  const send = () => {
    if (isWorking || text.trim() === '') return
    setText('')
    void conversation.ask({ text: text.trim() })
  }
  const stop = () => {
    conversation.stop()
    ref.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      className="flex shrink-0 flex-col gap-2 border-t border-line p-3"
    >
      <TextArea
        ref={ref}
        aria-label={isEmpty ? 'Describe the workflow' : 'Ask the assistant'}
        placeholder={isEmpty ? 'When a form is sent, …' : 'Why …? Add …'}
        maxLength={20_000}
        rows={3}
        spellCheck
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="flex justify-end">
        {isWorking ? (
          <Button look="danger" size="small" icon={<Square size={12} />} onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button type="submit" look="primary" size="small" icon={<ArrowUp size={13} />} disabled={text.trim() === ''}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}
