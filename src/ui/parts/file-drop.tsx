import { FileUp } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { classes } from './class-names.ts'

/** An area onto which files are dropped, with a button that selects them instead. */
export function FileDrop({
  label,
  accept,
  multiple = false,
  files,
  onChange,
}: {
  label: string
  accept: string
  multiple?: boolean
  files: readonly File[]
  onChange: (files: readonly File[]) => void
}) {
  const [isOver, setIsOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    const dropped = [...event.dataTransfer.files]
    onChange(multiple ? dropped : dropped.slice(0, 1))
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
      className={classes(
        'flex flex-col items-center gap-2 rounded-lg border border-dashed px-4 py-6 text-center text-sm',
        isOver ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
    >
      <FileUp size={20} className="text-muted" aria-hidden="true" />
      {files.length > 0 ? (
        <p className="font-medium break-all">{files.map(({ name }) => name).join(', ')}</p>
      ) : (
        <p className="text-muted">{multiple ? 'Drop files here' : 'Drop a file here'}</p>
      )}
      <Button size="small" onClick={() => picker.current?.click()}>
        {multiple ? 'Choose files' : 'Choose a file'}
      </Button>
      <input
        ref={picker}
        type="file"
        multiple={multiple}
        accept={accept}
        aria-label={label}
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => onChange([...(event.target.files ?? [])])}
      />
    </div>
  )
}
