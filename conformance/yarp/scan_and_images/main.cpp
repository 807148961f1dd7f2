// Opens YARP 4's own rangefinder2D_nwc_yarp, frameGrabber_nwc_yarp and RGBDSensor_nwc_yarp on the sensors of serve.py
// and calls their interfaces: a line "ok|FAILED CALL" for each, and "value NAME NUMBER..." where it matters.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <yarp/dev/all.h>
#include <yarp/os/all.h>
#include <yarp/sig/all.h>

using namespace yarp::dev;
using namespace yarp::os;

static int failed = 0;
#define TRY(call)                                              \
    do {                                                       \
        bool good = bool(call);                                \
        failed += !good;                                       \
        std::printf("%s %s\n", good ? "ok" : "FAILED", #call); \
    } while (0)
#define VALUE(name, ...) print(name, {__VA_ARGS__})

static void print(const char* name, const std::vector<double>& numbers)
{
    std::printf("value %s", name);
    for (double number : numbers) std::printf(" %.9g", number);
    std::printf("\n");
}

static bool open(PolyDriver& device, const std::string& text)
{
    Property options;
    options.fromString(text);
    return device.open(options);
}

// Tries a call until it succeeds, for at most 30 s: the first scan or image comes some time after the connection.
template <class Call>
static bool wait(Call call)
{
    for (int tries = 0; tries < 600; ++tries, Time::delay(0.05))
        if (call()) return true;
    return false;
}

static void scan()
{
    PolyDriver& device = *new PolyDriver;
    IRangefinder2D* laser = nullptr;
    TRY(open(device, "(device rangefinder2D_nwc_yarp) (local /tester/scan) (remote /robot/scan/laser:o)") && device.view(laser));
    if (!laser) return;
    yarp::sig::Vector ranges;
    IRangefinder2D::Device_status status;
    double a = 0.0, b = 0.0;
    std::string info;
    TRY(wait([&] { return bool(laser->getRawData(ranges)) && ranges.size(); }));
    VALUE("rays", double(ranges.size()));
    for (size_t k = 0; k < ranges.size(); ++k) VALUE("range", ranges[k]);
    TRY(laser->getDistanceRange(a, b)); VALUE("distances", a, b);
    TRY(laser->getScanLimits(a, b)); VALUE("angles", a, b);
    TRY(laser->getHorizontalResolution(a)); VALUE("resolution", a);
    TRY(laser->getScanRate(a)); VALUE("rate", a);
    TRY(laser->getDeviceInfo(info)); TRY(laser->getDeviceStatus(status)); VALUE("scanner", int(status));
    TRY(!laser->setScanRate(3.0));
}

static void images()
{
    PolyDriver& device = *new PolyDriver;
    IFrameGrabberImage* grabber = nullptr;
    IRgbVisualParams* lens = nullptr;
    TRY(open(device, "(device frameGrabber_nwc_yarp) (local /tester/eye) (remote /robot/eye)") && device.view(grabber) && device.view(lens));
    if (!grabber || !lens) return;
    yarp::sig::ImageOf<yarp::sig::PixelRgb> image;
    int w = 0, h = 0;
    double a = 0.0, b = 0.0;
    bool mirrored = true;
    Property intrinsics;
    std::vector<CameraConfig> settings;
    TRY(wait([&] { return bool(grabber->getImage(image)) && image.width(); }));
    VALUE("image", double(image.width()), double(image.height()));
    VALUE("size", double(lens->getRgbWidth()), double(lens->getRgbHeight()));
    TRY(lens->getRgbResolution(w, h)); VALUE("resolution_rgb", double(w), double(h));
    TRY(lens->getRgbFOV(a, b)); VALUE("fov", a, b);
    TRY(lens->getRgbIntrinsicParam(intrinsics)); VALUE("focal", intrinsics.find("focalLengthX").asFloat64());
    TRY(lens->getRgbMirroring(mirrored)); VALUE("mirrored", mirrored);
    TRY(lens->getRgbSupportedConfigurations(settings));
    for (auto& s : settings) VALUE("setting", double(s.width), double(s.height), s.framerate);
    TRY(!lens->setRgbResolution(10, 10));
}

static void depth()
{
    PolyDriver& device = *new PolyDriver;
    IRGBDSensor* sensor = nullptr;
    TRY(open(device, "(device RGBDSensor_nwc_yarp) (localImagePort /tester/rgb:i) (localDepthPort /tester/depth:i) (localRpcPort /tester/rgbd:o)"
                     " (remoteImagePort /robot/deep/rgbImage:o) (remoteDepthPort /robot/deep/depthImage:o) (remoteRpcPort /robot/deep/rpc:i)"
                     " (ImageCarrier tcp) (DepthCarrier tcp)") && device.view(sensor));
    if (!sensor) return;
    yarp::sig::FlexImage colors;
    yarp::sig::ImageOf<yarp::sig::PixelFloat> distances;
    IRGBDSensor::RGBDSensor_status status;
    std::string message;
    Property intrinsics;
    double a = 0.0, b = 0.0;
    bool mirrored = true;
    int w = 0, h = 0;
    TRY(wait([&] { return bool(sensor->getImages(colors, distances)) && distances.width(); }));
    VALUE("deep", double(colors.width()), double(distances.width()), double(distances.pixel(distances.width() / 2, distances.height() / 2)));
    TRY(sensor->getSensorStatus(status)); VALUE("sensor", int(status));
    TRY(sensor->getLastErrorMsg(message));
    VALUE("depth_size", double(sensor->getDepthWidth()), double(sensor->getDepthHeight()));
    TRY(sensor->getDepthResolution(w, h)); TRY(sensor->getDepthFOV(a, b)); VALUE("depth_fov", a, b);
    TRY(sensor->getDepthClipPlanes(a, b)); VALUE("planes", a, b);
    TRY(sensor->getDepthAccuracy(a)); TRY(sensor->getDepthMirroring(mirrored));
    TRY(sensor->getDepthIntrinsicParam(intrinsics)); VALUE("depth_focal", intrinsics.find("focalLengthX").asFloat64());
    TRY(sensor->getRgbIntrinsicParam(intrinsics)); TRY(sensor->getRgbFOV(a, b));
    TRY(!sensor->setDepthAccuracy(0.5));
}

int main()
{
    Network network;
    if (!network.checkNetwork(5.0)) { std::printf("no name server\n"); return 2; }
    scan();
    images();
    depth();
    std::printf("failed %d\n", failed);
    std::fflush(stdout);
    std::_Exit(failed ? 1 : 0);  // no device is closed: closing rangefinder2D_nwc_yarp of 4.0 may crash while scans arrive
}
