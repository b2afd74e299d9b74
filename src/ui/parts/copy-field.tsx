import { CopyButton } from './copy-button.tsx'
import { Field, Input } from './field.tsx'

/** A text that people copy, such as a URL or a code. */
export function CopyField({ label, note, value }: { label: string; note?: string; value: string }) {
  return (
    <Field label={label} note={note}>
      {(tied) => (
        <span className="flex items-center gap-2">
          <Input {...tied} readOnly className="font-mono" value={value} />
          <CopyButton text={value} />
        </span>
      )}
    </Field>
  )
}
