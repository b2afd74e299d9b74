import { CopyButton } from '../../parts/copy-button.tsx'

/** A code snippet with a copy button. */
export function Snippet({ text }: { text: string }) {
  return (
    <div className="relative rounded-lg border border-line bg-sunken">
      <div className="absolute top-2 right-2 rounded-md bg-sunken">
        <CopyButton text={text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className="overflow-x-auto p-3.5 pr-10 font-mono text-xs leading-5" data-testid="snippet">
        {text}
      </pre>
    </div>
  )
}
