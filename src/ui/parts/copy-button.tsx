import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { copyText } from './clipboard.ts'
import { useToast } from './toast.tsx'

/** Copies text and confirms it. `label` says what is copied; `wide` shows the label as text. */
export function CopyButton({
  text,
  label = 'Copy',
  wide,
  size = 'small',
}: {
  text: string | (() => string)
  label?: string
  wide?: boolean
  size?: 'small' | 'normal'
}) {
  const toast = useToast()
  const [isDone, setIsDone] = useState(false)
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => setIsDone(false), 1_600)
    return () => clearTimeout(timer)
  }, [isDone])
  const copy = async () => {
    if (await copyText(typeof text === 'string' ? text : text())) setIsDone(true)
    else toast.show({ text: 'The browser blocked copying. Select the text and copy it manually.', tone: 'error' })
  }
  const icon = isDone ? <Check size={14} className="text-ok" /> : <Copy size={14} />
  if (wide) {
    return (
      <Button size={size} icon={icon} onClick={() => void copy()} aria-live="polite">
        {isDone ? 'Copied' : label}
      </Button>
    )
  }
  return <IconButton label={isDone ? 'Copied' : label} icon={icon} size={size} onClick={() => void copy()} />
}
