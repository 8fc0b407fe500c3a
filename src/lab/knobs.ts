import type {AnyExperiment} from '../experiment/experiment.js'
import {KxError} from '../util/errors.js'

/** @throws KxError KX_KNOB (usage) for a knob that the experiment has not, or a value out of its range. */
export function knobsOf(note: AnyExperiment, given: Readonly<Record<string, number>>): Record<string, number> {
  const knobs = note.knobs as Readonly<Record<string, {default: number; min: number; max: number}>>
  for (const [name, value] of Object.entries(given)) {
    const knob = Object.hasOwn(knobs, name) ? knobs[name] : undefined
    if (!knob)
      throw new KxError(
        'usage',
        'KX_KNOB',
        `The experiment has no knob "${name}"; it has ${Object.keys(knobs).join(', ')}.`,
      )
    if (!Number.isInteger(value) || value < knob.min || value > knob.max) {
      throw new KxError(
        'usage',
        'KX_KNOB',
        `${name} must be a whole number from ${knob.min} to ${knob.max}, not ${value}.`,
      )
    }
  }
  return Object.fromEntries(Object.entries(knobs).map(([name, knob]) => [name, given[name] ?? knob.default]))
}
