import { KeyRound } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useMe } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/check.tsx'
import { Segments } from '../../parts/segments.tsx'
import { normaliseName } from '../document/document.ts'
import { exampleInput } from '../document/example-input.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { Snippet } from './snippet-box.tsx'
import { type CallMode, callModes, languages, snippet } from './snippets.ts'

const NewKeyDialog = lazy(async () => ({
  default: (await import('../../screens/settings/new-key-dialog.tsx')).NewKeyDialog,
}))

/** How to call the API trigger: three modes in three languages, with the workflow's own input format. */
export function ApiCall() {
  const { workflowId, types } = useEditing()
  const { baseUrl } = useMe().service
  const document = useDraft((state) => state.document)
  const [mode, setMode] = useState<CallMode>('plain')
  const [language, setLanguage] = useState<(typeof languages)[number]>('curl')
  const [isAddingKey, setIsAddingKey] = useState(false)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const outputs = Object.values(document.blocks).flatMap((block) => {
    const type = types.get(block.type)
    return type?.kind === 'step'
      ? type.outputs.filter((output) => output !== 'error').map((output) => `${normaliseName(block.name)}.${output}`)
      : []
  })
  // The reader has just reached the service at the page's own address.
  const url = `${baseUrl || location.origin}/api/workflows/${workflowId}/execute`
  const input = useMemo(() => exampleInput(document), [document])
  const text = snippet({
    language,
    mode,
    url,
    input,
    outputs: chosen,
    hasResponse: Object.values(document.blocks).some(({ type, enabled }) => type === 'response' && enabled !== false),
    origin: baseUrl || location.origin,
  })
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Segments label="Mode" options={callModes} value={mode} onChange={setMode} />
        <Segments
          label="Language"
          options={languages.map((one) => ({ value: one, label: one }))}
          value={language}
          onChange={setLanguage}
        />
      </div>
      <p className="text-sm text-muted">{callModes.find(({ value }) => value === mode)?.description}</p>
      {mode === 'streaming' && outputs.length > 0 && (
        <fieldset className="flex flex-wrap gap-x-4 gap-y-1.5">
          <legend className="mb-1 text-xs font-medium">
            Outputs to stream. With none selected, the text that models generate is streamed.
          </legend>
          {outputs.map((output) => (
            <Check
              key={output}
              label={output}
              checked={chosen.includes(output)}
              onChange={(checked) => setChosen(checked ? [...chosen, output] : chosen.filter((one) => one !== output))}
              className="font-mono text-xs!"
            />
          ))}
        </fieldset>
      )}
      <Snippet text={text} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button size="small" icon={<KeyRound size={13} />} onClick={() => setIsAddingKey(true)}>
          Create an API key
        </Button>
        <p className="text-xs text-muted">
          Callers send it in place of YOUR_API_KEY. To generate a client, use the{' '}
          <a
            className="text-accent-text underline underline-offset-2"
            href={`/api/workflows/${workflowId}/openapi.json`}
            target="_blank"
            rel="noreferrer"
          >
            OpenAPI document
          </a>
          .
        </p>
      </div>
      {isAddingKey && (
        <Suspense>
          <NewKeyDialog onClose={() => setIsAddingKey(false)} />
        </Suspense>
      )}
    </div>
  )
}
