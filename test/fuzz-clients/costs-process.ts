/** Measures the costs whose names contain its argument, says them to its parent, and ends. */
import { type CostsSaid, measuredCosts } from './costs.ts';

const [, , only = ''] = process.argv;
const tell = (said: CostsSaid, then = () => {}) => process.send?.(said, then);

process.on('disconnect', () => process.exit());
const figures = await measuredCosts({ only, say: (line) => tell({ line }) });
tell({ figures }, () => process.exit());
