/** The documents that a connector can be made from. */
export const importFormats = ['openapi', 'discovery', 'curl', 'har'] as const
export type ImportFormat = (typeof importFormats)[number]
