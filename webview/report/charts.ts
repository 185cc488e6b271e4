import { BarChart, CustomChart, LineChart } from 'echarts/charts';
import { GridComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

use([BarChart, CustomChart, LineChart, GridComponent, TooltipComponent, CanvasRenderer]);

/** `pictures.ts` loads this module late, because ECharts is larger than the rest of the page. */
export { init };
