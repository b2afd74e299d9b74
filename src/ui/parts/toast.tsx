import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { messageOf } from '../api/message-of.ts'
import { Button, IconButton } from './button.tsx'
import { classes } from './class-names.ts'
import { ProblemList } from './problem-list.tsx'

export type Toast = {
  text: string
  tone?: 'ok' | 'error'
  /** One action, such as `Undo`. */
  action?: { label: string; run: () => void }
  /** A later toast with the same key replaces this one. */
  key?: string
  /** The problems, one per line; `more`: the number of problems not listed. */
  problems?: { list: readonly { text: string; go: (() => void) | undefined }[]; more: number }
}

type Shown = Toast & { id: number }

type Toaster = {
  show(toast: Toast): void
  /** Shows the error of a failed action. */
  fail(error: unknown): void
  /** Removes the toast with this key. */
  dismiss(key: string): void
}

const Context = createContext<Toaster | undefined>(undefined)

/** Short notifications in the corner. They disappear automatically, except while hovered or focused. */
export function Toasts({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<readonly Shown[]>([])
  const counter = useRef(0)
  const remove = useCallback((id: number) => setShown((all) => all.filter((one) => one.id !== id)), [])
  const toaster = useMemo<Toaster>(() => {
    const show = (toast: Toast) => {
      counter.current += 1
      const id = counter.current
      const isSame = (one: Toast) => (toast.key === undefined ? one.text === toast.text : one.key === toast.key)
      setShown((all) => [...all.filter((one) => !isSame(one)).slice(-(shownMax - 1)), { ...toast, id }])
    }
    const dismiss = (key: string) => setShown((all) => all.filter((one) => one.key !== key))
    return { show, fail: (error) => show({ text: messageOf(error), tone: 'error' }), dismiss }
  }, [])
  return (
    <Context value={toaster}>
      {children}
      <section
        aria-label="Notifications"
        aria-live="polite"
        className={classes(
          'pointer-events-none fixed right-[calc(16px+var(--panel-width,0px))] bottom-4 z-70 flex w-90 max-w-[calc(100vw-32px)] flex-col gap-2',
          // On narrow pages, the find bar is at the bottom.
          'max-lg:[body:has(search)_&]:top-14 max-lg:[body:has(search)_&]:bottom-auto',
        )}
      >
        {shown.map((toast) => (
          <ToastCard key={toast.id} toast={toast} onDone={() => remove(toast.id)} />
        ))}
      </section>
    </Context>
  )
}

export function useToast(): Toaster {
  const toaster = useContext(Context)
  if (!toaster) throw new Error('useToast must be used inside Toasts')
  return toaster
}

function ToastCard({ toast, onDone }: { toast: Shown; onDone: () => void }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const stop = () => clearTimeout(timer.current)
  const start = () => {
    stop()
    timer.current = setTimeout(onDone, toast.action || toast.tone === 'error' ? longMs : shortMs)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the timer starts once, when the card appears
  useEffect(() => {
    start()
    return stop
  }, [])
  const { text, tone = 'ok', action, problems } = toast
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only gives more time to read
    <div
      onMouseEnter={stop}
      onMouseLeave={start}
      onFocus={stop}
      onBlur={start}
      className="popup pointer-events-auto flex animate-[appear-late_120ms] items-center gap-2.5 py-2 pr-2 pl-3"
    >
      {tone === 'ok' ? (
        <CircleCheck size={16} className="shrink-0 text-ok" aria-hidden="true" />
      ) : (
        <CircleAlert size={16} className="shrink-0 text-error" aria-hidden="true" />
      )}
      {problems ? (
        <div className="min-w-0 flex-1">
          <p className="text-sm break-words">{text}</p>
          <ProblemList problems={problems.list} more={problems.more} className="mt-1" />
        </div>
      ) : (
        <p className="min-w-0 flex-1 text-sm break-words">{text}</p>
      )}
      {action && (
        <Button
          size="small"
          onClick={() => {
            action.run()
            onDone()
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton label="Dismiss" icon={<X size={14} />} size="small" onClick={onDone} />
    </div>
  )
}

const shownMax = 2
const shortMs = 4_000
const longMs = 10_000
