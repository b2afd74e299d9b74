import { type Config, durationText, type Setting, type SettingValue, settings, sizeText } from '../../config.ts'
import type { Command, LoadedSettings } from '../command.ts'

export const config: Command = {
  summary: 'prints every setting: its name, current value, default, and a description',
  details: [
    'A flag overrides the environment. The environment overrides the --config file. The file overrides the default.',
    'The flag for MILLRACE_LOG_LEVEL is --log-level. Sizes may be written with KB, MB or GB (1024-based), and times with s, m, h or d.',
  ].join('\n'),
  json: true,
  examples: ['config', 'config --config production.env', 'config --json'],
  async run({ terminal, json, config, settings: loaded }) {
    if (json)
      terminal.print(
        JSON.stringify(
          settings.map((setting) => row(setting, config)),
          null,
          2,
        ),
      )
    else terminal.print(settings.map((setting) => lines(setting, config, loaded)).join('\n'))
    for (const warning of loaded.warnings) terminal.say(warning)
    return 0
  },
}

function row(setting: Setting, config: Config) {
  return {
    name: setting.name,
    value: shown(setting, config) ?? null,
    default: setting.default,
    description: setting.description,
  }
}

function lines(setting: Setting, config: Config, loaded: LoadedSettings): string {
  const source = loaded.sources[setting.member]
  const value = text(setting, shown(setting, config))
  const origin = source === 'default' ? '' : `   (${source}; default ${text(setting, setting.default)})`
  return `${setting.name}=${value}${origin}\n    ${setting.description} Allowed: ${setting.range}.`
}

function shown(setting: Setting, config: Config): SettingValue | undefined {
  const value = config[setting.member]
  return setting.secret && value !== undefined ? '***' : value
}

function text(setting: Setting, value: SettingValue | null | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' && setting.bytes) return sizeText(value).replace(' bytes', '').replace(' ', '')
  if (typeof value === 'number' && setting.duration) return durationText(value)
  return Array.isArray(value) ? value.join(',') : String(value)
}
