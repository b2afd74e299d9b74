import { type ModelProvider, modelProviders } from '../domain/run/model-call.ts'

/** The language model of the assistant, and the operator's key. */
export type AssistantModel = {
  provider: ModelProvider
  /** The provider's name for it. */
  model: string
  apiKey?: string
  baseUrl?: string
}

export type AssistantModelReading =
  | { ok: true; model: AssistantModel | undefined }
  /** `message` says which setting is missing. */
  | { ok: false; message: string }

type Settings = {
  assistantModel?: string | undefined
  assistantApiKey?: string | undefined
  assistantBaseUrl?: string | undefined
}

/** Reads the settings. Without a model there is no assistant, and nothing is sent anywhere. */
export function readAssistantModel({
  assistantModel,
  assistantApiKey,
  assistantBaseUrl,
}: Settings): AssistantModelReading {
  if (assistantModel === undefined) return { ok: true, model: undefined }
  const slash = assistantModel.indexOf('/')
  const name = assistantModel.slice(0, slash)
  const provider = modelProviders.find((each) => each === name)
  if (!provider) return missing(`MILLRACE_ASSISTANT_MODEL must begin with one of ${modelProviders.join('/, ')}/.`)
  const isOwnServer = provider === 'openai-compatible'
  if (isOwnServer && assistantBaseUrl === undefined) {
    return missing('MILLRACE_ASSISTANT_MODEL names an openai-compatible model. Set MILLRACE_ASSISTANT_BASE_URL, too.')
  }
  if (!isOwnServer && assistantApiKey === undefined) {
    return missing(`MILLRACE_ASSISTANT_MODEL names a model of ${provider}. Set MILLRACE_ASSISTANT_API_KEY, too.`)
  }
  const model = assistantModel.slice(slash + 1)
  return {
    ok: true,
    model: {
      ...{ provider, model },
      ...(assistantApiKey !== undefined && { apiKey: assistantApiKey }),
      ...(assistantBaseUrl !== undefined && { baseUrl: assistantBaseUrl.replace(/\/+$/, '') }),
    },
  }
}

function missing(message: string): AssistantModelReading {
  return { ok: false, message }
}
