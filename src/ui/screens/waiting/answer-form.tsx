import { useMutation } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { Field, Input, Select, TextArea } from '../../parts/field.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { Switch } from '../../parts/switch.tsx'
import { answerOf, canAskFor, type Typed } from './answer-values.ts'
import type { PauseDetail, PauseField } from './pause-queries.ts'

/** Approves or rejects. `onAnswered` gets the sentence to show; `onLost` runs when the pause has ended before. */
export function AnswerForm({
  pause,
  onAnswered,
  onLost,
}: {
  pause: PauseDetail
  onAnswered: (text: string) => void
  onLost: () => void
}) {
  const [typed, setTyped] = useState<Typed>({})
  const answer = useMutation({
    mutationFn: (approved: boolean) =>
      call('POST /api/pauses/:token', {
        params: { token: pause.callbackUrl?.split('/').at(-1) ?? '' },
        body: { approved, fields: answerOf(pause.fields, typed) },
      }),
    onSuccess: ({ outcome }, approved) => {
      const word = approved ? 'Approved' : 'Rejected'
      onAnswered(
        outcome === 'resumed' ? `${word}. The run continues.` : `${word}. The run still waits for answers from others.`,
      )
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status === 409 && error.code !== 'CONFLICT') onLost()
    },
  })
  if (!canAskFor(pause.fields)) {
    return <p className="text-sm text-muted">This form has fields that only its page can ask for. Open the page.</p>
  }
  const problems = answer.error instanceof ApiError ? answer.error.details : []
  const submit = (event: FormEvent) => {
    event.preventDefault()
    answer.mutate(true)
  }
  return (
    <form aria-label="Answer" onSubmit={submit} className="flex flex-col gap-4">
      {pause.fields.map((field) => (
        <AnswerField
          key={field.name}
          field={field}
          value={typed[field.name]}
          error={problems.find(({ path }) => path === field.name)?.message}
          onChange={(value) => setTyped((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      <ErrorNote error={answer.error} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" icon={<Check size={14} aria-hidden="true" />} busy={answer.isPending}>
          Approve
        </Button>
        <Button
          look="danger"
          icon={<X size={14} aria-hidden="true" />}
          disabled={answer.isPending}
          onClick={() => answer.mutate(false)}
        >
          Reject
        </Button>
      </div>
    </form>
  )
}

function AnswerField({
  field: { name, type, format, label, description, options, required },
  value,
  error,
  onChange,
}: {
  field: PauseField
  value: string | boolean | undefined
  error: string | undefined
  onChange: (value: string | boolean) => void
}) {
  const shown = label ?? name
  if (type === 'boolean') {
    return (
      <div className="flex flex-col gap-1">
        <Switch label={shown} checked={value === true} onChange={onChange} />
        {(error ?? description) && <p className="text-xs text-muted">{error ?? description}</p>}
      </div>
    )
  }
  const text = typeof value === 'string' ? value : ''
  return (
    <Field label={shown} note={description} error={error} optional={!required}>
      {(tied) => {
        const common = { ...tied, required, value: text }
        if (options.length > 0) {
          const choices = ['', ...options].map((each) => ({ value: each, label: each === '' ? 'Select…' : each }))
          return <Select {...common} options={choices} onChange={(event) => onChange(event.target.value)} />
        }
        if (type === 'object' || type === 'array' || format === 'long') {
          const example = type === 'object' ? '{ }' : type === 'array' ? '[ ]' : undefined
          return <TextArea {...common} placeholder={example} onChange={(event) => onChange(event.target.value)} />
        }
        const keyboard = type === 'number' ? ({ inputMode: 'decimal' } as const) : {}
        return <Input {...common} {...keyboard} onChange={(event) => onChange(event.target.value)} />
      }}
    </Field>
  )
}
