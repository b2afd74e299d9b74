import { CopyButton } from './copy-button.tsx'

/** A text that nobody can see again: to be copied now. */
export function ShownOnce({ label, text }: { label: string; text: string }) {
  return (
    <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1.5 pr-1.5 pl-3">
      <p className="min-w-0 flex-1 font-mono text-xs break-all select-all">
        <span className="sr-only">{label}: </span>
        <code>{text}</code>
      </p>
      <CopyButton label="Copy" text={text} wide />
    </div>
  )
}
