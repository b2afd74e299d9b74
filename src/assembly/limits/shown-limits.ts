import { type Config, settings, sizeText } from '../../config.ts'

/** A limit as the dashboard shows it under About. */
export type ShownLimit = { setting: string; description: string; value: string }

/** The limits that protect everyone from one workspace or visitor. */
const shown: ReadonlySet<keyof Config> = new Set([
  ...(['runsMax', 'shareFactor', 'jobsConcurrency', 'outboundConcurrency', 'outboundHostConcurrency'] as const),
  ...(['watchersMax', 'bodyBytesMax', 'bodyBytesMaxFiles', 'bodyValuesMax', 'formFieldsMax'] as const),
  ...(['requestFilesMax', 'bodyRatioMax', 'bodiesBytesMax', 'anonymousBodyBytesMax'] as const),
  ...([
    'anonymousBodyBytesMaxFiles',
    'anonymousBodyValuesMax',
    'anonymousFormFieldsMax',
    'anonymousFilesMax',
    'formBytesMaxFiles',
  ] as const),
  ...([
    'workspaceFilesMax',
    'workspaceFileBytes',
    'documentBytesMax',
    'documentValuesMax',
    'documentBlocksMax',
    'documentEdgesMax',
    'documentReferencesMax',
    'codeCharsMax',
    'expressionCharsMax',
  ] as const),
  ...(['runBytesMax', 'runsBytesMax', 'blockBytesMax', 'expressionWorkMax', 'webhookHostConcurrency'] as const),
  ...(['chatVisitorPerMinute', 'webhookVisitorPerMinute', 'formVisitorPerMinute', 'publicChatUsdPerDay'] as const),
])

/** In the order of the settings. */
export function shownLimits(config: Config): ShownLimit[] {
  return settings
    .filter(({ member }) => shown.has(member))
    .map(({ name, member, description, bytes }) => {
      const value = Number(config[member])
      return { setting: name, description, value: bytes ? sizeText(value) : value.toLocaleString('en-US') }
    })
}
