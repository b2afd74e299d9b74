import type { OperationExamples } from './openapi.ts'

/** One example for every route of `/api/v2`. */
export const examplesV2: Readonly<Record<string, OperationExamples>> = {}
