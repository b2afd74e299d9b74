import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog, DialogActions, DialogBody } from './dialog.tsx'

/** Shows a new secret, such as an API key, once. */
export function ShownOnceDialog({
  title,
  description,
  label,
  text,
  onClose,
}: {
  title: string
  description: string
  label: string
  text: string
  onClose: () => void
}) {
  return (
    <Dialog onClose={onClose} title={title} description={description}>
      <DialogBody>
        <ShownOnce label={label} text={text} />
      </DialogBody>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** Text that is never shown again, with a copy button. */
function ShownOnce({ label, text }: { label: string; text: string }) {
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
