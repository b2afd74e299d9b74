import { catalogTools } from './catalog-tools.ts'
import { runTools } from './run-tools.ts'
import { testTools } from './test-tools.ts'
import type { BuildingTool } from './tool.ts'
import { workflowTools } from './workflow-tools.ts'

/** The tools for building workflows, in the order of a typical session. */
export const buildingTools: readonly BuildingTool[] = [
  ...[...workflowTools, ...catalogTools, ...runTools, ...testTools],
]
